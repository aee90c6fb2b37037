"""Indexes for every order and search of the list of documents, and a tally of each organization's documents."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import migrations, models
from django.db.models.functions import Upper

LIVE = models.Q(("deleted_at__isnull", True))
ORDER = (models.F("created_at"), models.F("id"))
ORGANIZATION = models.F("organization")

# The planner reads statistics of expressions from indexes only when they are not partial.
STATISTICS = """
CREATE STATISTICS document_upper_name ON (upper(name::text)) FROM documents_document;
CREATE STATISTICS document_upper_uploader ON (upper(uploaded_by_name::text)) FROM documents_document;
"""
NO_STATISTICS = "DROP STATISTICS document_upper_name; DROP STATISTICS document_upper_uploader;"

TALLY = """
CREATE FUNCTION docrouter_tally(whose uuid, change bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE documents_documenttally SET documents = documents + change WHERE id = (
    SELECT id FROM documents_documenttally WHERE organization_id = whose LIMIT 1 FOR UPDATE SKIP LOCKED
  );
  IF NOT FOUND THEN
    INSERT INTO documents_documenttally (organization_id, documents) VALUES (whose, change);
  END IF;
END $$;

CREATE FUNCTION docrouter_tally_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM docrouter_tally(organization_id, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END)
    FROM touched WHERE deleted_at IS NULL GROUP BY organization_id;
  RETURN NULL;
END $$;

CREATE FUNCTION docrouter_tally_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM docrouter_tally(NEW.organization_id, CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE -1 END);
  RETURN NULL;
END $$;

CREATE TRIGGER tally_insert AFTER INSERT ON documents_document REFERENCING NEW TABLE AS touched
FOR EACH STATEMENT EXECUTE FUNCTION docrouter_tally_statement();
CREATE TRIGGER tally_delete AFTER DELETE ON documents_document REFERENCING OLD TABLE AS touched
FOR EACH STATEMENT EXECUTE FUNCTION docrouter_tally_statement();
CREATE TRIGGER tally_trash AFTER UPDATE OF deleted_at ON documents_document FOR EACH ROW
WHEN ((OLD.deleted_at IS NULL) IS DISTINCT FROM (NEW.deleted_at IS NULL)) EXECUTE FUNCTION docrouter_tally_row();

INSERT INTO documents_documenttally (organization_id, documents)
SELECT organization_id, count(*) FROM documents_document WHERE deleted_at IS NULL GROUP BY organization_id;
"""
NO_TALLY = """
DROP TRIGGER tally_insert ON documents_document;
DROP TRIGGER tally_delete ON documents_document;
DROP TRIGGER tally_trash ON documents_document;
DROP FUNCTION docrouter_tally_row();
DROP FUNCTION docrouter_tally_statement();
DROP FUNCTION docrouter_tally(uuid, bigint);
"""


def add(index: models.Index) -> migrations.AddIndex:
    return migrations.AddIndex(model_name="document", index=index)


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0005_run_the_prompts_of_tags"),
        ("core", "0001_extensions"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="document", name="document_by_time"),
        migrations.RemoveIndex(model_name="document", name="document_by_state"),
        add(models.Index(fields=["organization", "-created_at", "-id"], condition=LIVE, name="document_by_time")),
        add(models.Index(fields=["organization", "state", "created_at", "id"], condition=LIVE, name="document_by_state")),
        add(models.Index(ORGANIZATION, Upper("name"), *ORDER, condition=LIVE, name="document_by_name")),
        add(models.Index(ORGANIZATION, Upper("uploaded_by_name"), *ORDER, condition=LIVE, name="document_by_uploader")),
        add(
            models.Index(
                *(ORGANIZATION, OpClass(Upper("name"), "text_pattern_ops")), condition=LIVE, name="document_by_start"
            )
        ),
        add(
            GinIndex(
                OpClass(Upper("name"), "gin_trgm_ops"),
                condition=LIVE,
                name="document_by_letters",
                gin_pending_list_limit=256,
            )
        ),
        add(
            GinIndex(
                fields=["metadata"],
                opclasses=["jsonb_path_ops"],
                condition=LIVE,
                name="document_by_metadata",
                gin_pending_list_limit=256,
            )
        ),
        migrations.RunSQL(STATISTICS, NO_STATISTICS),
        migrations.CreateModel(
            name="DocumentTally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("organization_id", models.UUIDField()),
                ("documents", models.BigIntegerField()),
            ],
            options={"indexes": [models.Index(fields=["organization_id"], name="tally_by_organization")]},
        ),
        migrations.RunSQL(TALLY, NO_TALLY),
    ]

"""Documents know the ids of their tags, and the pieces of their names: for searches that combine or are short."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import migrations, models
from django.db.models.functions import Upper

# Whoever sets tag_ids gets what the links say; so an object that was read before another tag came cannot undo it. The
# row is locked before the links are read, in the order of ids: of two who tag one document, the later sees both.
TAGS = """
CREATE FUNCTION docrouter_own_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.tag_ids := ARRAY(SELECT tag_id FROM documents_document_tags WHERE document_id = NEW.id ORDER BY tag_id);
  RETURN NEW;
END $$;

CREATE FUNCTION docrouter_tagged() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM documents_document WHERE id IN (SELECT document_id FROM touched) ORDER BY id FOR NO KEY UPDATE;
  UPDATE documents_document SET tag_ids = tag_ids WHERE id IN (SELECT document_id FROM touched);
  RETURN NULL;
END $$;

CREATE TRIGGER own_tags BEFORE UPDATE OF tag_ids ON documents_document
FOR EACH ROW EXECUTE FUNCTION docrouter_own_tags();
CREATE TRIGGER tagged AFTER INSERT ON documents_document_tags REFERENCING NEW TABLE AS touched
FOR EACH STATEMENT EXECUTE FUNCTION docrouter_tagged();
CREATE TRIGGER untagged AFTER DELETE ON documents_document_tags REFERENCING OLD TABLE AS touched
FOR EACH STATEMENT EXECUTE FUNCTION docrouter_tagged();

UPDATE documents_document SET tag_ids = tag_ids
WHERE EXISTS (SELECT 1 FROM documents_document_tags WHERE document_id = documents_document.id);
"""
NO_TAGS = """
DROP TRIGGER tagged ON documents_document_tags;
DROP TRIGGER untagged ON documents_document_tags;
DROP TRIGGER own_tags ON documents_document;
DROP FUNCTION docrouter_tagged();
DROP FUNCTION docrouter_own_tags();
"""

# Every letter of a name, and every two that stand together: trigrams find nothing shorter. They are numbers, salted
# with the organization, so that a search reads nothing of the neighbours'. A text that is sought asks for its pairs;
# for its single letter when it has no pair.
PIECES = """
CREATE FUNCTION docrouter_pieces(whose uuid, letters text, sought boolean) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  letter text;
  before text := '';
  salt integer := uuid_hash(whose);
  pieces integer[] := '{}';
  single boolean := NOT sought OR char_length(letters) = 1;
BEGIN
  FOREACH letter IN ARRAY string_to_array(letters, NULL) LOOP
    IF single THEN
      pieces := pieces || (hashtext(letter) # salt);
    END IF;
    IF before <> '' THEN
      pieces := pieces || (hashtext(before || letter) # salt);
    END IF;
    before := letter;
  END LOOP;
  RETURN pieces;
END $$;
"""
NO_PIECES = "DROP FUNCTION docrouter_pieces(uuid, text, boolean);"


class Migration(migrations.Migration):
    dependencies = [("documents", "0009_take_turns")]

    operations = [
        migrations.AddField(
            model_name="document",
            name="tag_ids",
            field=ArrayField(base_field=models.UUIDField(), db_default=[], default=list, editable=False, size=None),
        ),
        migrations.RunSQL(TAGS, NO_TAGS),
        migrations.RunSQL(PIECES, NO_PIECES),
        migrations.RemoveIndex(model_name="document", name="document_by_letters"),
        migrations.AddIndex(
            model_name="document",
            index=GinIndex(
                OpClass("tag_ids", "array_ops"),
                OpClass(Upper("name"), "gin_trgm_ops"),
                models.Func(
                    models.F("organization"),
                    Upper("name"),
                    models.Value(False),
                    function="docrouter_pieces",
                    output_field=ArrayField(base_field=models.IntegerField(), size=None),
                ),
                condition=models.Q(("deleted_at__isnull", True)),
                gin_pending_list_limit=256,
                name="document_by_tags_and_letters",
            ),
        ),
    ]

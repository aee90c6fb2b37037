"""Revisions never change: the database refuses it, whoever asks."""

from django.db import migrations

CREATE = """
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON schemas_app_schemarevision
FOR EACH ROW EXECUTE FUNCTION docrouter_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("schemas_app", "0001_initial"), ("core", "0002_immutable_rows")]
    operations = [migrations.RunSQL(CREATE, "DROP TRIGGER refuse_change ON schemas_app_schemarevision;")]

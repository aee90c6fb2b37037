"""Revisions never change: the database refuses it, whoever asks."""

from django.db import migrations

CREATE = """
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON prompts_app_promptrevision
FOR EACH ROW EXECUTE FUNCTION docrouter_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("prompts_app", "0001_initial"), ("core", "0002_immutable_rows")]
    operations = [migrations.RunSQL(CREATE, "DROP TRIGGER refuse_change ON prompts_app_promptrevision;")]

"""The documents of a tag from the index alone, in order: tags are intersected and counted without reading rows.

Django makes the table between documents and tags itself and takes no indexes for it.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("documents", "0006_find_among_many")]
    operations = [
        migrations.RunSQL(
            "CREATE INDEX document_tag_documents ON documents_document_tags (tag_id, document_id);",
            "DROP INDEX document_tag_documents;",
        )
    ]

"""The letters of a document's name, for searches that are too short for trigrams."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from documents.models.documents import Document


class DocumentLetters(models.Model):
    """Every letter of a name in capitals, and every two that stand together. Kept by database triggers only.

    `pieces` are numbers, salted with the organization, so that a search reads nothing of the neighbours'. In a table of
    its own, because a document's row is written at every change of its state and its name hardly ever.
    """

    document = models.OneToOneField(
        Document, primary_key=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="letters"
    )
    pieces = ArrayField(models.IntegerField())

    class Meta:
        indexes = [GinIndex(fields=["pieces"], name="letters_by_piece", gin_pending_list_limit=256)]

    def __str__(self) -> str:
        return str(self.document_id)

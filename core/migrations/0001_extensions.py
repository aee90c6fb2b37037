"""The database extensions that DocRouter requires: vectors and trigrams."""

from django.contrib.postgres.operations import CreateExtension, TrigramExtension
from django.db import migrations


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [CreateExtension("vector"), TrigramExtension()]

"""A trigger function for rows that never change.

It lets through only that a person who left is forgotten (`created_by` becomes NULL), and deletes of a purge, which
says so with `SET LOCAL docrouter.purge = 'on'`.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION docrouter_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF current_setting('docrouter.purge', true) = 'on' THEN RETURN OLD; END IF;
  ELSIF NEW.created_by_id IS NULL AND to_jsonb(NEW) - 'created_by_id' = to_jsonb(OLD) - 'created_by_id' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'rows of % are immutable', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("core", "0001_extensions")]
    operations = [migrations.RunSQL(CREATE, "DROP FUNCTION docrouter_refuse_change();")]

"""Links to share, and publications: the database lets nothing of one change but that it is withdrawn."""

import core.fields
import core.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

CREATE = """
CREATE FUNCTION docrouter_refuse_republishing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF current_setting('docrouter.purge', true) = 'on' THEN RETURN OLD; END IF;
  ELSIF to_jsonb(NEW) - '{withdrawn_at,created_by_id,extraction_id}'::text[]
        = to_jsonb(OLD) - '{withdrawn_at,created_by_id,extraction_id}'::text[]
        AND (OLD.withdrawn_at IS NULL OR NEW.withdrawn_at IS NOT DISTINCT FROM OLD.withdrawn_at)
        AND (NEW.created_by_id IS NULL OR NEW.created_by_id IS NOT DISTINCT FROM OLD.created_by_id)
        AND (NEW.extraction_id IS NULL OR NEW.extraction_id IS NOT DISTINCT FROM OLD.extraction_id) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a publication can only be withdrawn' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON documents_publication
FOR EACH ROW EXECUTE FUNCTION docrouter_refuse_republishing();
"""
REMOVE = """
DROP TRIGGER refuse_change ON documents_publication;
DROP FUNCTION docrouter_refuse_republishing();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('documents', '0010_find_tags_and_short_texts'),
        ('organizations', '0005_propose_unasked'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Publication',
            fields=[
                ('id', models.UUIDField(default=core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('number', models.PositiveIntegerField()),
                ('slug', models.CharField(max_length=43, unique=True)),
                ('payload', core.fields.OrderedJSONField()),
                ('with_pages', models.BooleanField(default=False)),
                ('created_by_name', models.CharField(max_length=200)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='publications', to='documents.document')),
                ('extraction', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='documents.extraction')),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='organizations.organization')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='documents.documentversion')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('document', 'number'), name='publication_number_unique')],
            },
        ),
        migrations.CreateModel(
            name='ShareLink',
            fields=[
                ('id', models.UUIDField(default=core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('role', models.CharField(choices=[('view', 'View'), ('ask', 'Ask')], max_length=4)),
                ('token_digest', models.CharField(max_length=64)),
                ('password_hash', models.CharField(blank=True, max_length=200)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('max_views', models.PositiveIntegerField(blank=True, null=True)),
                ('views', models.PositiveIntegerField(default=0)),
                ('last_viewed_at', models.DateTimeField(blank=True, null=True)),
                ('redact', models.JSONField(default=list)),
                ('fields_only', models.BooleanField(default=False)),
                ('fields_only_reason', models.CharField(blank=True, max_length=500)),
                ('masks', models.JSONField(default=dict)),
                ('masks_stamp', models.CharField(blank=True, max_length=64)),
                ('answers', models.PositiveIntegerField(default=0)),
                ('max_answers', models.PositiveIntegerField()),
                ('cost_usd', models.DecimalField(decimal_places=8, default=0, max_digits=14)),
                ('max_cost_usd', models.DecimalField(decimal_places=8, max_digits=14)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('created_by_name', models.CharField(max_length=200)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='share_links', to='documents.document')),
                ('extraction', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='documents.extraction')),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='organizations.organization')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='documents.documentversion')),
            ],
            options={
                'indexes': [models.Index(fields=['document', '-created_at'], name='share_by_document')],
                'constraints': [models.CheckConstraint(condition=models.Q(('role__in', ['view', 'ask'])), name='share_role_known'), models.CheckConstraint(condition=models.Q(('max_views__isnull', True), ('views__lte', models.F('max_views')), _connector='OR'), name='share_views_within'), models.CheckConstraint(condition=models.Q(('answers__lte', models.F('max_answers'))), name='share_answers_within')],
            },
        ),
        migrations.RunSQL(CREATE, REMOVE),
    ]

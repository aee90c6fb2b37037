import core.fields
import core.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("organizations", "0003_accounts")]

    operations = [
        migrations.CreateModel(
            name="IdempotentRequest",
            fields=[
                ("id", models.UUIDField(default=core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("key", models.CharField(max_length=200)),
                ("digest", models.BinaryField(max_length=32)),
                ("answer", core.fields.OrderedJSONField(default=dict)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="organizations.organization"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["created_at"], name="idempotent_request_by_time")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "user", "key"), name="idempotent_request_unique"
                    )
                ],
            },
        )
    ]

"""Abstract base models: UUIDv7 keys, timestamps, the tenant, the trash."""

from django.db import models
from django.utils import timezone

from core.ids import new_id


class BaseModel(models.Model):
    """A row with a UUIDv7 key and the moment it was made."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.id.hex}"


class TenantModel(BaseModel):
    """A row that belongs to exactly one organization; reach it through `organizations.gate`."""

    organization = models.ForeignKey("organizations.Organization", on_delete=models.CASCADE, related_name="+")

    class Meta:
        abstract = True


class TrashableModel(TenantModel):
    """A tenant row that is deleted by moving it to the trash: gone from the gate, purged later."""

    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True

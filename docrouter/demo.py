"""The demo organization of `make run`: one administrator, one sample document that the real workers set up."""

from pathlib import Path

from django.conf import settings

from docrouter.embedded import files
from documents.services import UploadedFile, upload_documents
from organizations import selectors, services
from organizations.errors import OrganizationNotFound, UserNotFound
from organizations.models import Organization, User

EMAIL = "demo@example.com"
ORGANIZATION = "Demo"
SAMPLE = Path(__file__).parent / "samples" / "statement-en-contoso-1.pdf"


def ensure_demo() -> None:
    """Make the demo unless it is there; its password follows DEMO_PASSWORD, else a random one kept in the data folder.

    The sample is uploaded only into a new organization: who deletes it does not get it again."""
    user = _ensure_user()
    try:
        organization = selectors.find_organization(name_or_id=ORGANIZATION)
    except OrganizationNotFound:
        organization = services.create_organization(name=ORGANIZATION, owner=user)
        _upload_sample(user, organization)


def demo_password() -> str:
    """Return DEMO_PASSWORD, or the random one of this data folder."""
    return settings.DEMO_PASSWORD or files.secret(settings.DATA_DIR / "demo.password", 8)


def _ensure_user() -> User:
    password = demo_password()
    try:
        user = selectors.get_user_by_email(email=EMAIL)
    except UserNotFound:
        return services.create_user(email=EMAIL, password=password, name="Demo", is_system_admin=True)
    if not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
    return user


def _upload_sample(user: User, organization: Organization) -> None:
    actor = selectors.actor_for(user=user, organization_id=organization.id, via="task")
    upload_documents(actor=actor, files=[UploadedFile(name=SAMPLE.name, path=SAMPLE)], auto_create=True)

"""Fill an organization with very many documents by SQL: for what can only be seen with many rows."""

import uuid
from typing import Any

from django.db import connection, transaction

from organizations.models import Organization
from tags_app.models import Tag

TAGS = 30
_BATCH = 1000  # documents get their tags soon after they came, not after all the others
RARE = "Zugspitze"
"""A word that is in the names of 20 documents, however many there are."""

_IDS = """
CREATE TEMPORARY TABLE many ON COMMIT DROP AS
SELECT n, moment, md5(n || %(seed)s) AS chance,
  (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || '7' || substr(md5(n || %(seed)s), 1, 3)
   || '8' || substr(md5(n || %(seed)s), 4, 15))::uuid AS document_id,
  md5('version' || n || %(seed)s)::uuid AS version_id
FROM (SELECT n, timestamptz '2026-01-01' + n * interval '90 seconds' AS moment
      FROM generate_series(%(first)s, %(last)s) AS n) AS moments
"""
_DOCUMENTS = """
INSERT INTO documents_document (id, created_at, updated_at, deleted_at, organization_id, name, uploaded_by_name,
  metadata, state, phase, auto_create_status, current_version_id)
SELECT document_id, moment, moment, CASE WHEN n %% 40 = 7 THEN moment END, %(organization)s,
  (ARRAY['Invoice', 'invoice', 'Receipt', 'Contract', 'Delivery note', 'Statement', 'Offer'])[1 + n %% 7] || ' '
    || (ARRAY['Contoso', 'Fabrikam', 'Northwind', 'Adventure Works', 'Müller', 'Litware'])[1 + n %% 6] || ' '
    || CASE WHEN n %% %(period)s = 9 THEN %(rare)s || ' ' ELSE '' END || lpad(n::text, 6, '0') || '.pdf',
  (ARRAY['Ada', 'Bob', 'Carla', 'Dieter', 'Eve', 'mail import', 'Scanner 3'])[1 + (n / 3) %% 7],
  CASE n %% 4 WHEN 0 THEN jsonb_build_object('kind', 'invoice', 'case', 'C-' || n / 20)
    WHEN 1 THEN '{"kind": "letter"}'::jsonb ELSE '{}'::jsonb END,
  (ARRAY['llm_completed', 'llm_completed', 'llm_completed', 'ocr_completed', 'ocr_completed', 'ocr_failed',
         'llm_failed', 'uploaded'])[1 + (n / 2) %% 8],
  'complete', '', version_id
FROM many
"""
_VERSIONS = """
INSERT INTO documents_documentversion (id, created_at, number, file_name, file_key, pdf_key, sha256, size_bytes,
  mime_type, page_count, notes, document_id, organization_id)
SELECT version_id, moment, 1, 'file.pdf', 'none/' || n, 'none/' || n, repeat(chance, 2), 1000, 'application/pdf', 1,
  '[]', document_id, %(organization)s
FROM many
"""
_TAGGED = """
INSERT INTO documents_document_tags (document_id, tag_id)
SELECT document_id, (%(tags)s::uuid[])[position]
FROM many, LATERAL (VALUES
  (CASE WHEN n %% 3 = 0 THEN 1 + (n / 3) %% 5 END), (CASE WHEN n %% 6 = 0 THEN 6 + (n / 6) %% 23 END),
  (CASE WHEN n %% %(period)s = 11 THEN 30 END)) AS chosen(position)
WHERE position IS NOT NULL
"""


@transaction.atomic
def fill(organization: Organization, count: int) -> list[Tag]:
    """Make `count` documents, one in 40 of them in the trash, a third of them tagged.

    Of the 30 tags that are returned, the first five are on 1/15 each, the next on 1/138 each, the last on 20 documents.
    """
    tags = Tag.objects.bulk_create(Tag(organization=organization, name=f"tag {n:02}") for n in range(TAGS))
    values: dict[str, Any] = {
        "seed": uuid.uuid4().hex,
        "organization": organization.pk,
        "rare": RARE,
        "period": max(count // 20, 1),
        "tags": [tag.pk for tag in tags],
    }
    with connection.cursor() as cursor:
        for before in range(0, count, _BATCH):
            part = {"first": before + 1, "last": min(before + _BATCH, count)}
            for statement in (_IDS, _DOCUMENTS, _VERSIONS, _TAGGED):
                cursor.execute(statement, values | part)
            cursor.execute("DROP TABLE many")
    return tags


def tidy() -> None:
    """What autovacuum does sooner or later; not inside a transaction."""
    with connection.cursor() as cursor:
        for table in ("documents_document", "documents_documentversion", "documents_document_tags"):
            cursor.execute(f"VACUUM ANALYZE {table}")

"""What can go wrong with documents, in sentences for a person."""

from core.errors import Conflict, Invalid, LimitReached, NotFound, Unavailable


class DocumentNotFound(NotFound):
    code = "document_not_found"
    detail = "Document not found"


class DocumentChanged(Conflict):
    """Somebody changed the document in the meantime; `extra` holds how it is now."""

    code = "document_changed"
    detail = "The document was changed in the meantime; nothing of this was saved."


class PageNotFound(NotFound):
    code = "page_not_found"
    detail = "This document has no such page."


class RunNotFound(NotFound):
    code = "run_not_found"
    detail = "Run not found"


class TextNotReady(Conflict):
    code = "text_not_ready"
    detail = "The text of this document is not ready yet."


class RunActive(Conflict):
    """`extra` names the run that is in the way."""

    code = "run_active"
    detail = "This document is being read already."


class RunEnded(Conflict):
    code = "run_finished"
    detail = "This run has ended already."


class ProposalWaits(Conflict):
    code = "proposal_waits"
    detail = "A proposal for this document waits for somebody to accept or reject it."


class UnsupportedFile(Invalid):
    code = "unsupported_file"
    detail = "This kind of file is not supported."


class EmptyFile(Invalid):
    code = "empty_file"
    detail = "This file is empty."


class UnreadableFile(Invalid):
    code = "unreadable_file"
    detail = "This file is damaged and cannot be read."


class EncryptedFile(Invalid):
    code = "encrypted_file"
    detail = "This file is protected by a password. Remove the password and upload it again."


class FileTooLarge(LimitReached):
    code = "file_too_large"
    status = 413
    detail = "This file is too large."


class TooManyPages(LimitReached):
    code = "too_many_pages"
    status = 400
    detail = "This file has too many pages."


class TooManyPixels(LimitReached):
    code = "too_many_pixels"
    status = 400
    detail = "This picture has too many pixels."


class TooManyFiles(LimitReached):
    code = "too_many_files"
    status = 400
    detail = "Too many files at once."


class InvalidQuery(Invalid):
    code = "invalid_query"
    detail = "This filter is not valid."


class ParserCrashed(Invalid):
    """The child process that read the file died or took too long; the worker lives."""

    code = "parser_crashed"
    detail = "Reading this file failed: it made the reader crash."


class ParserBusy(Unavailable):
    code = "parser_busy"
    detail = "All page readers are busy. Try again in a moment."


class ExtractionNotFound(NotFound):
    code = "extraction_not_found"
    detail = "There is no extraction of this document with this prompt yet."


class ExtractionActive(Conflict):
    code = "extraction_active"
    detail = "This prompt is running on this document already."


class ExtractionFailed(Unavailable):
    """The model answered, but not with data. `retryable` is always true: another try may work."""

    code = "extraction_failed"
    detail = "The model did not answer with data. Try again, or choose another model."


class NothingToExtract(Invalid):
    code = "nothing_to_extract"
    detail = (
        "This prompt gives the model nothing of the document: the text is left out, no metadata that it names is "
        "there, and this model gets no files. Include the text."
    )


class ExtractionStopped(Conflict):
    """Somebody cancelled the run, or deleted the document, while the model was asked."""

    code = "cancelled"
    detail = "This extraction was stopped."


class ExtractionStale(Conflict):
    code = "extraction_stale"
    detail = "Somebody changed this result in the meantime. Nothing of yours was saved: look at the new values first."


class WithdrawalRefused(Conflict):
    code = "withdrawal_refused"
    detail = "This extraction cannot be taken back any more."


class FieldInvalid(Invalid):
    code = "field_invalid"
    detail = "This value does not fit the field."


class FileMissing(NotFound):
    """The row is there, its bytes are not: somebody removed them from the storage."""

    code = "file_missing"
    detail = "The stored file of this document is missing."


class RangeNotThere(Invalid):
    code = "range_not_satisfiable"
    status = 416
    detail = "The file ends before the range that was asked for."


class PdfNotReady(NotFound):
    code = "pdf_not_ready"
    detail = "The PDF of this document is not made yet."


class ReadingNotFound(NotFound):
    """The document was not read to its end, or not yet."""

    code = "ocr_not_found"
    detail = "OCR data not found"


class ReadingNotOffered(NotFound):
    code = "ocr_not_supported"
    detail = "OCR not supported for this document extension"


class ReadingImpossible(Invalid):
    code = "ocr_not_supported"
    detail = "Document type does not support OCR"


class TableNotFound(NotFound):
    code = "table_not_found"
    detail = "No such table was found in this document."


class ContentInvalid(Invalid):
    code = "invalid_content"
    detail = "Invalid base64 content"


class NothingProposed(Conflict):
    """There is no proposal to decide about: none was asked for, or the agent is still at work, or it failed."""

    code = "nothing_proposed"
    detail = "The agent has proposed nothing for this document that could be decided now."


class ProposalStopped(Conflict):
    """The attempt ended, or another worker has it: whoever still works on it writes nothing any more."""

    code = "proposal_stopped"
    detail = "This attempt to set up the document has ended."


class CountChanged(Conflict):
    """`extra["documents"]` is how many there are now; nothing was done."""

    code = "count_changed"
    detail = "Another number of documents has this tag by now. Look at it again; nothing was changed."

"""Threads, turns, messages and tool calls: the transcript is the state of a turn. Beside them: answers to questions."""

from django.db import models

from core.fields import OrderedJSONField
from core.models import TenantModel, TrashableModel


class Thread(TrashableModel):
    """A conversation about one document: private to its author until shared with the organization."""

    document = models.ForeignKey("documents.Document", on_delete=models.CASCADE, related_name="threads")
    author = models.ForeignKey("organizations.User", on_delete=models.CASCADE, related_name="+")
    title = models.CharField(max_length=200, default="New chat")
    renamed = models.BooleanField(default=False)
    shared = models.BooleanField(default=False)
    model = models.CharField(max_length=200, blank=True)
    working_state = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["document", "author", "-updated_at"], name="thread_by_author")]

    def __str__(self) -> str:
        return self.title


class Turn(TenantModel):
    """One question up to its final answer. `epoch` fences out a runner that lost its lease.

    `parent` is the turn this one continues (a resubmit from an earlier question makes a branch).
    `outcome` is the last `done` result or error, kept for late deciders and for reloads.
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        WAITING = "waiting"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"
        INTERRUPTED = "interrupted"
        EXPIRED = "expired"

    OPEN = ("running", "waiting")

    document = models.ForeignKey("documents.Document", on_delete=models.CASCADE, related_name="turns")
    thread = models.ForeignKey(Thread, null=True, blank=True, on_delete=models.CASCADE, related_name="turns")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children")
    author = models.ForeignKey("organizations.User", on_delete=models.CASCADE, related_name="+")
    actor_name = models.CharField(max_length=200, blank=True)
    via = models.CharField(max_length=10, default="page")
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.RUNNING)
    model = models.CharField(max_length=200)
    auto_approve = models.BooleanField(default=False)
    auto_approved_tools = models.JSONField(default=list)
    mentions = models.JSONField(default=list)
    history = OrderedJSONField(default=list)
    working_state = models.JSONField(default=dict)
    follow_ups_left = models.PositiveSmallIntegerField(null=True, blank=True)
    epoch = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    event_seq = models.BigIntegerField(default=0)
    error_code = models.CharField(max_length=60, blank=True)
    error_message = models.CharField(max_length=500, blank=True)
    retryable = models.BooleanField(default=False)
    outcome = OrderedJSONField(default=dict)
    usage = models.JSONField(default=dict)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    finished_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    status__in=["running", "waiting", "done", "failed", "cancelled", "interrupted", "expired"]
                ),
                name="turn_status_known",
            ),
            models.UniqueConstraint(
                fields=["thread"],
                condition=models.Q(status__in=["running", "waiting"]),
                name="turn_one_open_per_thread",
            ),
        ]
        indexes = [
            models.Index(fields=["thread", "created_at"], name="turn_by_thread"),
            models.Index(fields=["lease_until"], condition=models.Q(status="running"), name="turn_running_by_lease"),
            models.Index(
                fields=["organization", "expires_at"], condition=models.Q(status="waiting"), name="turn_waiting"
            ),
        ]


class Message(TenantModel):
    """One message of a turn, in order. Tool results are `ToolCall` rows, not messages.

    Content is paged by row: a message is one person's question or one round of the assistant.
    `thinking_blocks` are what the provider sent, byte for byte, signatures included.
    """

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="messages")
    position = models.PositiveIntegerField()
    role = models.CharField(max_length=10)
    content = models.TextField(blank=True)
    thinking = models.TextField(blank=True)
    thinking_blocks = models.JSONField(default=list)
    thinking_ms = models.PositiveIntegerField(default=0)
    round_index = models.PositiveIntegerField(default=0)
    sent = OrderedJSONField(null=True, blank=True)
    usage = models.JSONField(default=dict)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    complete = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["turn", "position"], name="message_position_unique")]
        indexes = [
            models.Index(fields=["created_at"], condition=models.Q(sent__isnull=False), name="message_with_sent")
        ]


class ToolCall(TenantModel):
    """One call the model asked for: the audit trail of approvals.

    `arguments_text` is the model's JSON; `arguments` what was checked and shown; `decided_arguments` what runs.
    `seen` are the versions of what it would change, at the time of the proposal.
    `arguments_hash` binds a decision to what was shown. A write is marked `started` before it runs.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        DECIDED = "decided"
        STARTED = "started"
        DONE = "done"
        FAILED = "failed"
        REJECTED = "rejected"
        CANCELLED = "cancelled"
        INTERRUPTED = "interrupted"

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="tool_calls")
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="tool_calls")
    position = models.PositiveIntegerField()
    call_id = models.CharField(max_length=200)
    name = models.CharField(max_length=100)
    writes = models.BooleanField(default=False)
    arguments_text = models.TextField(blank=True)
    arguments = OrderedJSONField(default=dict)
    arguments_hash = models.CharField(max_length=64, blank=True)
    summary = models.CharField(max_length=500, blank=True)
    tainted = models.BooleanField(default=False)
    seen = models.JSONField(default=dict)
    decision = models.CharField(max_length=10, blank=True)
    decided_arguments = OrderedJSONField(null=True, blank=True)
    decided_by = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    decided_by_name = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.WAITING)
    result = OrderedJSONField(null=True, blank=True)
    success = models.BooleanField(null=True, blank=True)
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    undo = OrderedJSONField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["turn", "call_id"], name="tool_call_unique"),
            models.UniqueConstraint(fields=["message", "position"], name="tool_call_position_unique"),
        ]


class StandingRule(TenantModel):
    """A person's lasting permission for one tool, narrow and revocable; the organization's ceiling still wins."""

    user = models.ForeignKey("organizations.User", on_delete=models.CASCADE, related_name="+")
    tool = models.CharField(max_length=100)
    document = models.ForeignKey(
        "documents.Document", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    until = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["organization", "user", "tool"], name="rule_by_user")]


class Response(TenantModel):
    """One question about one document version, its answer, and what it cost.

    `citations` are only those whose quote stands on its page; `citations_dropped` counts the others. `share_id` is set
    when somebody asked through a share link; then nobody of ours is the author.
    """

    class Status(models.TextChoices):
        IN_PROGRESS = "in_progress"
        COMPLETED = "completed"
        FAILED = "failed"
        CANCELLED = "cancelled"

    document = models.ForeignKey("documents.Document", on_delete=models.CASCADE, related_name="responses")
    version = models.ForeignKey("documents.DocumentVersion", on_delete=models.CASCADE, related_name="+")
    run = models.ForeignKey("documents.Run", null=True, on_delete=models.SET_NULL, related_name="+")
    share_id = models.UUIDField(null=True, blank=True)
    author = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = models.CharField(max_length=200, blank=True)
    via = models.CharField(max_length=10, default="api")
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.IN_PROGRESS)
    question = models.TextField()
    answer = models.TextField(blank=True)
    citations = OrderedJSONField(default=list)
    citations_dropped = models.PositiveIntegerField(default=0)
    pages_shown = models.PositiveIntegerField(default=0)
    model_requested = models.CharField(max_length=200, blank=True)
    model_used = models.CharField(max_length=200)
    usage = models.JSONField(default=dict)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    error_message = models.CharField(max_length=500, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=["in_progress", "completed", "failed", "cancelled"]),
                name="response_status_known",
            ),
        ]
        indexes = [
            models.Index(fields=["document", "-created_at"], name="response_by_document"),
            models.Index(fields=["share_id"], condition=models.Q(share_id__isnull=False), name="response_by_share"),
            models.Index(fields=["created_at"], condition=models.Q(status="in_progress"), name="response_in_progress"),
        ]

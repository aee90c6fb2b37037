"""Models that can be chosen, for everybody; providers and plain model calls, for those who run the deployment."""

from collections.abc import Callable
from typing import Any, TypeVar

from rest_framework.request import Request

from core.api.bodies import Message
from core.api.operations import operation
from core.api.views import Result
from core.threads import in_thread
from llm import catalog, providers, services
from llm.api import bodies
from llm.api.runs import RUN_EXAMPLE, embed, run
from llm.services import PlainCaller
from organizations.api.doors import (
    AccountView,
    AsyncOrganizationSystemAdminView,
    AsyncSystemAdminView,
    OrganizationView,
    SystemAdminView,
)

TAG = "Models"
Handler = TypeVar("Handler", bound=Callable[..., Any])


class AccountModelsView(AccountView):
    """Every model of the deployment."""

    @operation("list_models", "List the models", tag=TAG, answer=bodies.ModelsAnswer, query=bodies.ModelsQuery)
    def get(self, request: Request) -> bodies.ModelsAnswer:
        query = self.query(bodies.ModelsQuery)
        if query.ocr_only and query.chat_agent_only:
            raise bodies.QueryContradicts
        found = catalog.list_models(**query.model_dump(exclude={"ocr_only"}))
        chats = [
            bodies.ChatModelAnswer.of(model)
            for model in found
            if (model.entry.ocr if query.ocr_only else model.entry.chats)
        ]
        embeds = [bodies.EmbeddingModelAnswer.of(model) for model in found if model.entry.embeds and not query.ocr_only]
        return bodies.ModelsAnswer(models=chats, chat_models=chats, embedding_models=embeds)


class OrganizationModelsView(OrganizationView):
    """The enabled models, by name."""

    @operation(
        "list_organization_models",
        "List the names of the models that can be used",
        tag=TAG,
        answer=bodies.ModelNamesAnswer,
        query=bodies.OrganizationModelsQuery,
    )
    def get(self, request: Request) -> bodies.ModelNamesAnswer:
        query = self.query(bodies.OrganizationModelsQuery)
        names = [
            model.name
            for model in catalog.list_models()
            if (model.entry.chats or not query.chat_only) and not (model.entry.embeds and query.exclude_embeddings)
        ]
        return bodies.ModelNamesAnswer(models=names)


class ProvidersView(SystemAdminView):
    """Who serves models here."""

    @operation("list_providers", "List the model providers", tag=TAG, answer=bodies.ProvidersAnswer)
    def get(self, request: Request) -> bodies.ProvidersAnswer:
        found = sorted(providers.states(fresh=True), key=lambda state: state.display_name.casefold())
        return bodies.ProvidersAnswer(providers=[bodies.ProviderAnswer.of(state) for state in found])


class ProviderView(SystemAdminView):
    """One provider."""

    @operation(
        "update_provider",
        "Change a provider's key and models",
        tag=TAG,
        answer=Message,
        body=bodies.ProviderBody,
        errors=(400, 409),
        example={"litellm_models_enabled": ["gpt-4o-mini"], "enabled": True, "token": "sk-proj-…"},
    )
    def put(self, request: Request, provider_name: str) -> Message:
        body = self.body(bodies.ProviderBody)
        services.configure_provider(
            user_id=self.caller.user.pk,
            user_name=self.caller.name,
            name=provider_name,
            models_enabled=body.litellm_models_enabled,
            models_chat_agent=body.litellm_models_chat_agent,
            enabled=body.enabled,
            token=body.token,
            api_base=body.api_base,
        )
        return Message(message="LLM provider config updated successfully")


def run_operation(operation_id: str) -> Callable[[Handler], Handler]:
    """The same act at two addresses, described once."""
    return operation(
        operation_id,
        "Talk to a model",
        tag=TAG,
        answer=bodies.CompletionAnswer,
        body=bodies.CompletionBody,
        errors=(400, 503),
        example=RUN_EXAMPLE,
        or_text=True,
    )


class AccountRunView(AsyncSystemAdminView):
    """A plain conversation with a model."""

    rates = {"POST": "chat"}

    @run_operation("run_model")
    async def post(self, request: Request) -> Result:
        return await run(self.body(bodies.CompletionBody), PlainCaller(self.caller.user.pk, self.caller.name))


class OrganizationRunView(AsyncOrganizationSystemAdminView):
    """The same, at an organization's address."""

    rates = {"POST": "chat"}

    @run_operation("run_model_for_organization")
    async def post(self, request: Request) -> Result:
        actor = self.actor
        caller = PlainCaller(actor.user_id, actor.name, actor.organization_id)
        return await run(self.body(bodies.CompletionBody), caller)


class EmbeddingView(AsyncSystemAdminView):
    """A trial of an embedding model."""

    rates = {"POST": "chat"}

    @operation(
        "try_embedding",
        "Try an embedding model",
        tag=TAG,
        answer=bodies.EmbeddingAnswer,
        body=bodies.EmbeddingBody,
        errors=(400, 503),
        example={"model": "text-embedding-3-small", "input": "Payment is due within 30 days."},
    )
    async def post(self, request: Request) -> bodies.EmbeddingAnswer:
        body = self.body(bodies.EmbeddingBody)
        model = await in_thread(lambda: catalog.require_embedding_model(body.model))
        user = self.caller.user
        return bodies.EmbeddingAnswer.of(model, await embed(model, body.input, PlainCaller(user.pk, self.caller.name)))

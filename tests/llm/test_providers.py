"""Providers in the database: what they change, who sees it when, and where a key never gets."""

from collections.abc import Iterator
from functools import partial
from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from redis.exceptions import ConnectionError as RedisAway

from core import sealing
from core.threads import in_thread
from llm import catalog, client, errors, providers, services
from llm.models import Provider
from llm.sources import NO_DOCUMENT
from organizations.models import User
from organizations.services import create_user
from tests.fakes.fixtures import OPENAI_KEY
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Fault, Step
from tests.llm.conftest import OPENAI, QUESTION, ask

KEY = "sk-proj-" + "k3y" * 12


def by_root(**values: Any) -> None:
    """Configure a provider as the deployment's administrator."""
    email = "root@example.com"
    user = User.objects.filter(email=email).first() or create_user(email=email, is_system_admin=True)
    services.configure_provider(user_id=user.pk, user_name="Root", **values)


@pytest.fixture(autouse=True)
def in_database(settings: Any) -> Iterator[Any]:
    """Rows count here, and no test knows those of another."""
    settings.PROVIDERS_IN_DATABASE = True
    settings.MODEL_PROVIDER_KEYS, settings.MODEL_API_BASES, settings.CHAT_MODELS = {}, {}, []
    settings.DEFAULT_CHAT_MODEL = settings.DEFAULT_EXTRACTION_MODEL = ""
    providers.forget()
    yield settings
    providers.forget()


@pytest.fixture
def change(db: None, django_capture_on_commit_callbacks: Any) -> Any:
    """Configure a provider as a committed transaction would."""

    def configure(name: str, **values: Any) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            by_root(name=name, **values)

    return configure


def _state(name: str) -> providers.ProviderState:
    return next(state for state in providers.states() if state.name == name)


def _chats() -> list[str]:
    return [model.name for model in catalog.chat_models()]


# --- what a row does ------------------------------------------------------------------------------------------


def test_without_rows_the_environment_decides_and_the_built_in_provider_is_there(db: None, in_database: Any) -> None:
    assert [state.name for state in providers.states() if state.enabled] == ["docrouter"]
    assert len(providers.states()) == 12
    in_database.MODEL_PROVIDER_KEYS = {"openai": OPENAI_KEY}
    assert _state("openai").enabled
    assert OPENAI in _chats()


def test_a_row_enables_what_the_environment_has_no_key_for(change: Any) -> None:
    assert catalog.default_chat_model() == catalog.OFFLINE_MODEL
    change("openai", enabled=True, token=KEY, models_enabled=["gpt-4o", OPENAI], models_chat_agent=["gpt-4o"])
    assert _chats() == ["gpt-4o", catalog.OFFLINE_MODEL]
    assert catalog.usable_extraction_model(OPENAI) == (OPENAI, OPENAI)
    assert catalog.usable_extraction_model("openai/gpt-4o")[1] == "openai/gpt-4o"
    assert catalog.usable_extraction_model("gpt-4.1")[1] == catalog.default_extraction_model() == OPENAI
    with pytest.raises(errors.ModelNotEnabled):
        catalog.require_chat_model(OPENAI)


def test_a_row_takes_away_what_the_environment_gives(change: Any, in_database: Any) -> None:
    in_database.MODEL_PROVIDER_KEYS = {"openai": OPENAI_KEY}
    in_database.CHAT_MODELS, in_database.DEFAULT_CHAT_MODEL = ["openai/at-home"], "openai/at-home"
    assert catalog.default_chat_model() == "openai/at-home"
    change("openai", enabled=False)
    assert _chats() == [catalog.OFFLINE_MODEL]
    assert catalog.default_chat_model() == catalog.default_extraction_model() == catalog.OFFLINE_MODEL
    assert catalog.usable_extraction_model(OPENAI)[1] == catalog.OFFLINE_MODEL
    assert catalog.require_known_model(OPENAI) == OPENAI, "a prompt may still name it"
    change("openai", enabled=True)
    assert catalog.default_chat_model() == "openai/at-home"
    assert _state("openai").key == OPENAI_KEY, "the environment's key, as none was given"


def test_an_empty_token_clears_the_key_and_the_environments_too(change: Any, in_database: Any) -> None:
    in_database.MODEL_PROVIDER_KEYS = {"openai": OPENAI_KEY}
    change("openai", token="")
    assert _state("openai").key == ""
    assert _state("openai").masked_key is None
    assert Provider.objects.get().token_created_at is None


def test_a_model_that_chats_not_for_the_agent_if_it_is_not_enabled(change: Any) -> None:
    change("openai", enabled=True, token=KEY, models_enabled=[OPENAI], models_chat_agent=[OPENAI, "gpt-4o"])
    assert _state("openai").models_chat_agent == (OPENAI,)


@pytest.mark.parametrize(
    ("name", "values", "kind", "words"),
    [
        ("nobody", {}, errors.ProviderUnknown, "Provider 'nobody' not found"),
        ("", {}, errors.ProviderUnknown, "not found"),
        ("docrouter", {"enabled": False}, errors.ProviderConfigInvalid, "built-in"),
        ("openai", {"models_enabled": ["gpt-99"]}, errors.ProviderConfigInvalid,
         "Model 'gpt-99' is not available for provider 'openai'"),
        ("openai", {"models_enabled": ["claude-sonnet-4-6"]}, errors.ProviderConfigInvalid, "not available"),
        ("openai", {"models_chat_agent": ["text-embedding-3-small"]}, errors.ProviderConfigInvalid, "not available"),
        ("openai", {"token": "sk-proj-abcdefgh******"}, errors.ProviderConfigInvalid, "masked"),
        ("openai", {"token": "sk-\nHost: evil"}, errors.ProviderConfigInvalid, "visible ASCII"),
        ("openai", {"token": "schlüssel"}, errors.ProviderConfigInvalid, "visible ASCII"),
        ("openai", {"token": "k" * 10_001}, errors.ProviderConfigInvalid, "10000"),
        ("openai", {"api_base": "file:///etc/passwd", "token": KEY}, errors.ProviderConfigInvalid, "https://"),
        ("openai", {"api_base": "http://[", "token": KEY}, errors.ProviderConfigInvalid, "https://"),
        ("openai", {"api_base": "https://u:p@example.com", "token": KEY}, errors.ProviderConfigInvalid, "https://"),
        ("openai", {"api_base": "https://example.com"}, errors.ProviderConfigInvalid, "Send the key"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_nothing_is_written(
    db: None, name: str, values: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        by_root(name=name, **values)
    assert not Provider.objects.exists()


def test_where_the_environment_alone_counts_nobody_changes_it(db: None, in_database: Any) -> None:
    in_database.PROVIDERS_IN_DATABASE = False
    with pytest.raises(errors.ProvidersFixed):
        by_root(name="openai", enabled=True)


# --- keys -----------------------------------------------------------------------------------------------------


def test_a_key_is_sealed_at_rest_and_in_no_text_of_ours(change: Any, caplog: Any, capsys: Any) -> None:
    change("openai", token=KEY)
    with connection.cursor() as cursor:
        cursor.execute("SELECT llm_provider::text, convert_from(sealed_token, 'UTF8') FROM llm_provider")
        stored = " ".join(cursor.fetchone())
    assert KEY not in stored
    row, state = Provider.objects.get(), _state("openai")
    assert sealing.unseal(row.sealed_token) == state.key == KEY
    output = capsys.readouterr()
    assert KEY not in repr(state) + repr(row) + str(row) + caplog.text + output.out + output.err
    assert "provider.configured" in output.out + output.err + caplog.text


@pytest.mark.parametrize(("key", "shown"), [(KEY, "sk-proj-k3yk3yk3******"[:16] + "******"), ("short", "******")])
def test_a_key_is_masked(change: Any, key: str, shown: str) -> None:
    change("openai", token=key)
    assert _state("openai").masked_key == shown


def test_keys_are_sealed_anew_under_the_first_and_the_others_can_go(change: Any, in_database: Any) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    in_database.ENCRYPTION_KEYS = [old]
    change("openai", token=KEY)
    change("anthropic", token=KEY)
    change("groq", enabled=True)
    in_database.ENCRYPTION_KEYS = [new, old]
    told = StringIO()
    call_command("rotate_keys", stdout=told)
    assert told.getvalue() == "2 sealed anew\n"
    in_database.ENCRYPTION_KEYS = [new]
    providers.forget()
    assert _state("openai").key == _state("anthropic").key == KEY


def test_a_key_that_nothing_opens_is_no_key_and_is_named_by_the_command(change: Any, in_database: Any) -> None:
    change("openai", enabled=True, token=KEY)
    in_database.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    providers.forget()
    assert _state("openai").key == ""
    with pytest.raises(CommandError, match="openai"):
        call_command("rotate_keys", stdout=StringIO())


# --- calls ----------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
async def test_a_call_takes_key_and_address_of_the_row(fake_provider: FakeProvider, settings: Any) -> None:
    settings.MODEL_PROVIDER_KEYS, settings.MODEL_API_BASES = {}, {}
    fake_provider.add(Step(text="Yes."))
    await in_thread(partial(by_root, name="openai", enabled=True, token=KEY, api_base=fake_provider.openai_base))
    _, completion = await ask(OPENAI)
    assert completion.text == "Yes."
    assert fake_provider.received[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.django_db(transaction=True)
async def test_a_provider_that_was_switched_off_gets_nothing(fake_provider: FakeProvider) -> None:
    await in_thread(partial(by_root, name="openai", enabled=False))
    with pytest.raises(errors.ModelSwitchedOff):
        await ask(OPENAI)
    assert fake_provider.received == []


@pytest.mark.django_db(transaction=True)
async def test_a_provider_that_says_the_key_aloud_is_not_quoted(
    fake_provider: FakeProvider, caplog: Any, capsys: Any
) -> None:
    await in_thread(partial(by_root, name="openai", enabled=True, token=KEY, api_base=fake_provider.openai_base))
    said = f"Incorrect API key provided: {KEY}"
    fake_provider.add(Step(fault=Fault("status", status=401, message=said, error_code=KEY)))
    with pytest.raises(errors.ModelKeyRefused) as caught:
        await ask(OPENAI)
    output = capsys.readouterr()
    assert KEY not in caught.value.detail + repr(caught.value) + caplog.text + output.out + output.err


@pytest.mark.django_db(transaction=True)
async def test_on_an_event_loop_nothing_waits_for_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    await in_thread(partial(by_root, name="openai", enabled=True, token=KEY))
    assert not _state("openai").enabled, "nothing is kept yet"
    await providers.freshen()
    monkeypatch.setattr(providers, "provider_rows", _no_database)
    assert _state("openai").enabled
    assert OPENAI in _chats()


# --- what is kept ---------------------------------------------------------------------------------------------


def _no_database() -> list[Provider]:
    raise OperationalError("the database is away")


def test_the_hot_path_costs_no_query(change: Any, django_assert_num_queries: Any) -> None:
    change("openai", enabled=True, token=KEY)
    catalog.chat_models()
    with django_assert_num_queries(0):
        for _ in range(50):
            catalog.chat_models()
            catalog.usable_extraction_model(OPENAI)


def test_another_process_sees_a_change_at_its_next_look(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    change("openai", enabled=True, token=KEY)
    assert _state("openai").enabled
    before = providers._kept
    change("openai", enabled=False)
    monkeypatch.setattr(providers, "_kept", before)  # what another process still keeps
    assert _state("openai").enabled, "it has looked within the last second"
    monkeypatch.setattr(providers, "LOOK_SECONDS", 0.0)
    assert not _state("openai").enabled


def test_without_redis_a_change_is_seen_when_rows_are_read_again(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise RedisAway

    monkeypatch.setattr(providers.cache, "get", away)
    monkeypatch.setattr(providers.cache, "set", away)
    monkeypatch.setattr(providers, "LOOK_SECONDS", 0.0)
    change("openai", enabled=True, token=KEY)
    assert _state("openai").enabled
    Provider.objects.update(enabled=False)
    assert _state("openai").enabled
    monkeypatch.setattr(providers, "READ_SECONDS", 0.0)
    assert not _state("openai").enabled


@pytest.mark.django_db(transaction=True)
async def test_a_call_goes_on_with_what_is_kept_while_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    await in_thread(partial(by_root, name="openai", enabled=True, token=KEY))
    await providers.freshen()
    monkeypatch.setattr(providers, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(providers, "READ_SECONDS", 0.0)
    monkeypatch.setattr(providers, "provider_rows", _no_database)
    await providers.freshen()
    assert _state("openai").enabled


async def test_the_built_in_model_needs_no_provider(db: None) -> None:
    answer = await client.complete(model=catalog.OFFLINE_MODEL, messages=QUESTION, about=NO_DOCUMENT)
    assert answer.text

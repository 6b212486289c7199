"""Options scored as answers in a chat: the settings that say so, and where they mean nothing.

    --set chat=always --set system="You are a linguist." --set ask=judge

A run's spec holds `chat` only where the run is one: it is never "auto", which is settled when the run is asked for, and
never "never", so that runs made before there were chats keep their ids.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from explorer.errors import UsageError
from explorer.scoring.policy import PRESETS, ScoringPolicy
from explorer.settings import Settings
from explorer.studies.study import Setting

CHAT = {
    "chat": Setting(
        "never",
        "score options as answers in the model's chat template; auto: where the model was tuned for chat",
        ("never", "auto", "always"),
        is_optional=True,
    ),
    "system": Setting("", "system prompt of that chat; empty = the template's own", is_optional=True),
}
JUDGING = {
    "ask": Setting(
        "plain",
        "minimal pairs: plain = each sentence is scored; judge = log P(yes) less log P(no) after a question about it",
        ("plain", "judge"),
        is_optional=True,
    ),
}
# The hash of the chat template of a local folder, in the settings of runs that read it: nobody sets it.
TEMPLATE = "template"
SENTENCES = ("sentence", "pair_in_context")  # formats that ask=judge takes
OWN_PROMPTS = (
    "The study ontology asks in chat prompts of its own, and so takes no setting {name}. Leave {name} out, and choose "
    "the prompt (prompt=chat)."
)


def refuse_own_prompts(study: str, settings_given: Collection[str]) -> None:
    """UsageError for a study that has its own way to ask in a chat."""
    for name in (*CHAT, *JUDGING):
        if study == "ontology" and name in settings_given:
            raise UsageError(OWN_PROMPTS.format(name=name))


def settled(
    resolved: Mapping[str, Any], model: str, formats: Collection[str], kinds: Collection[str], settings: Settings
) -> dict[str, Any]:
    """A run's settings with those of chats settled for its model; UsageError or ModelError where they mean nothing."""
    # Here, not above: who only tells in words how a run asked needs neither, nor the numpy that they bring.
    from explorer.scoring import chat_files, http

    settings_settled = dict(resolved)
    chat, system, ask = (
        str(settings_settled.pop("chat", "never")),
        str(settings_settled.pop("system", "")),
        str(settings_settled.pop("ask", "plain")),
    )
    if system and chat == "never":
        raise UsageError(
            "The setting system is the first turn of a chat, and none was asked for. Give chat=always too, or leave "
            "system out."
        )
    if chat != "never":
        _refuse_other_conventions(settings_settled, kinds)
        if system and chat == "auto" and http.is_endpoint(model):
            raise UsageError(
                "A server does not tell whether its model was tuned for chat, so chat=auto would leave the system "
                "prompt out. Give chat=always, or leave system out."
            )
        if system and chat == "auto" and not chat_files.is_chat_model(model, settings):
            raise UsageError(
                f"{model} was not tuned for chat, so chat=auto scores plain text and would leave the system prompt "
                "out. Choose a chat model, or leave system out."
            )
        if chat == "always" and not http.is_endpoint(model):
            chat_files.require_template(model, settings)
        if chat == "always" or (not http.is_endpoint(model) and chat_files.is_chat_model(model, settings)):
            settings_settled["chat"] = "always"
            settings_settled |= {"system": system} if system else {}
    if ask == "judge":
        _refuse_unjudged(settings_settled, formats)
        settings_settled["ask"] = ask
    return settings_settled


def with_template(study: str, resolved: Mapping[str, Any], model: str, settings: Settings) -> dict[str, Any]:
    """A run's settings with what stands for the chat template that it reads, where that lies in a local folder.

    So a run that was done before somebody changed the template is not the run that is asked for after. Runs of earlier
    versions lack it.
    """
    from explorer.scoring import chat_files

    settings_made = dict(resolved)
    of_its_own = study == "ontology" and not str(settings_made.get("prompt")).startswith("completion")
    if (is_chat(settings_made) or settings_made.get("form") == "chat" or of_its_own) and (
        read := chat_files.template_of_folder(model, settings)
    ):
        settings_made[TEMPLATE] = read
    return settings_made


def in_policy(policy: ScoringPolicy, settings: Mapping[str, Any]) -> ScoringPolicy:
    """The policy as a run's settings of chats have it."""
    if settings.get("ask") == "judge":
        policy = dataclasses.replace(policy, ask="judge")
    return policy.as_chat(str(settings.get("system", ""))) if is_chat(settings) else policy


def plain_text_policy(policy: ScoringPolicy) -> ScoringPolicy:
    """The policy of what a run scores beside its options, which is plain text: no chat, and nothing put to judgment."""
    if not policy.chat:
        return dataclasses.replace(policy, ask="plain")
    return dataclasses.replace(PRESETS[policy.preset], normalization=policy.normalization)


def is_chat(settings: Mapping[str, Any]) -> bool:
    """Whether a run's options were scored as answers in a chat."""
    return settings.get("chat", "never") == "always"


def in_words(settings: Mapping[str, Any]) -> str:
    """How a run asked, where that was not the plain way, as "as a chat, with each sentence put up for judgment"."""
    phrases = []
    if is_chat(settings):
        phrases.append("as a chat with a system prompt" if settings.get("system") else "as a chat")
    if settings.get("ask") == "judge":
        phrases.append("with each sentence put up for judgment")
    return ", ".join(phrases)


def _refuse_other_conventions(settings: Mapping[str, Any], kinds: Collection[str]) -> None:
    if (preset := settings.get("preset", "natural")) != "natural":
        raise UsageError(
            f"The preset {preset} says itself what a model reads, and so does a chat. Leave preset or chat out."
        )
    if settings.get("bos", "preset") != "preset":
        raise UsageError("The chat template says itself what stands first. Leave bos or chat out.")
    if settings.get("normalization") == "pmi":
        raise UsageError(
            "The normalization pmi compares with an option after nothing, and an answer in a chat stands after a "
            "question. Choose another one, or leave chat out."
        )
    if set(kinds) == {"text"}:
        raise UsageError(
            "Membership and extraction are measured on raw texts, which no chat template stands before. Leave chat out."
        )


def _refuse_unjudged(settings: Mapping[str, Any], formats: Collection[str]) -> None:
    if not set(formats) <= set(SENTENCES):
        raise UsageError(
            f"The setting ask=judge puts sentences of minimal pairs in a question, and this benchmark's items are of "
            f"another kind ({', '.join(sorted(set(formats) - set(SENTENCES)))}). Leave ask out."
        )
    if settings.get("preset", "natural") != "natural":
        raise UsageError("The setting ask=judge goes with the preset natural alone. Leave preset or ask out.")
    if settings.get("normalization", "preset") not in ("preset", "sum"):
        raise UsageError(
            "The setting ask=judge compares log P(yes) with log P(no), whatever the normalization. Leave normalization "
            "or ask out."
        )

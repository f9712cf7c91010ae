"""OpenAI's own service."""

from __future__ import annotations

from providers.addresses import normalise_base_url
from providers.base import ConnectionSettings
from providers.chat_client import ChatProvider

BASE_URL = "https://api.openai.com/v1"
HOST = "api.openai.com"


class OpenAIProvider(ChatProvider):
    """Chat completions with the parameter names of OpenAI's present models."""

    token_param = "max_completion_tokens"  # noqa: S105 - the name of a parameter

    def __init__(self, settings: ConnectionSettings) -> None:
        super().__init__(settings, normalise_base_url(settings.base_url or BASE_URL), HOST)

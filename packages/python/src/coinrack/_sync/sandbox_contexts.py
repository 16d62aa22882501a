# Made by `npm run generate` from the module that awaits.
"""Contexts of a sandbox."""

from __future__ import annotations

from ..generated import types
from .client import Client


Contexts = list[types.Context]


class SandboxContexts:
    """Interpreters that keep what code defines, for ``run_code`` by their id. There is one for each language from the beginning."""

    def __init__(self, client: Client, sandbox_id: str) -> None:
        self._client = client
        self._id = sandbox_id

    def create(
        self, context: str, *, language: types.CodeLanguage | None = None, cwd: str | None = None
    ) -> types.Context:
        """
        Makes one. One that is there already is left as it is.

        :param language: python when it is left out
        :param cwd: the folder that it works in; the home folder when it is left out
        """
        made = self._client.create_context(sandbox_id=self._id, context=context, language=language, cwd=cwd)
        return types.Context(id=made.context, language=made.language, cwd=made.cwd)

    def list(self) -> Contexts:
        """Those that there are."""
        contexts = []
        for context in self._client.list_contexts(sandbox_id=self._id):
            contexts.append(context)
        return contexts

    def restart(self, context: str) -> None:
        """Ends the code that runs in it, and forgets all that was defined."""
        self._client.restart_context(sandbox_id=self._id, context=context)

    def remove(self, context: str) -> None:
        """Deletes it, with all that was defined in it. One that is not there is fine."""
        self._client.delete_context(sandbox_id=self._id, context=context)

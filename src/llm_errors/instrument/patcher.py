"""The patcher installs wrappers in SDK classes and removes them again. No other module patches.

A wrapper is a function of the same kind as the original (coroutine function, generator function) and with the same name, so
that signatures, `inspect`, copy and pickle work as before. It is always installed inside the wrappers of other
instrumentations, even if they were installed first, so that the call is observed while their span is current.
"""

import functools
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from weakref import WeakSet

import wrapt

from llm_errors.call import CallRecorder
from llm_errors.instrument import finalizers, unwrap
from llm_errors.instrument.imports import ExpectedImports
from llm_errors.instrument.protocol import Adapter, Kind, Target
from llm_errors.instrument.wrappers import WRAPPERS, Edge
from llm_errors.safety import quietly, warn_once

Function = Callable[..., Any]


@dataclass
class _Patch:
    """One installed wrapper."""

    owner: Any
    attribute: str
    original: Function
    wrapper: Function
    inherited: bool
    undecorated: bool = False

    def undo(self) -> None:
        """Remove this wrapper only, wherever it is now."""
        for (holder, name), function in unwrap.layers(self.owner, self.attribute, self.undecorated):
            if function is not self.wrapper:
                continue
            if self.inherited and holder is self.owner:
                delattr(self.owner, self.attribute)
            else:
                setattr(holder, name, self.original)
            return


class Patcher:
    """All patches of one `instrument()`."""

    def __init__(self, recorder: CallRecorder) -> None:
        self._recorder = recorder
        self._patches: list[_Patch] = []
        self._targets: dict[str, list[tuple[Adapter, Target]]] = {}
        self._installed: set[Adapter] = set()
        self.active = True
        self._prepared = False
        self._imports: ExpectedImports | None = None
        _patchers.add(self)
        self.found: dict[str, str] = {}
        """Target name -> `patched`, `not imported`, `not wanted` or `missing`."""

    def expect(self, packages: Collection[str], adapters: Callable[[str], Iterable[Adapter]]) -> None:
        """Install the adapters of each package when its import begins, so that adapters of unused SDKs are never loaded.

        `adapters` loads the adapters of one package. All their targets are modules of the package.
        """
        for package in packages:
            # wrapt's finder must be installed before the import begins, and must come after the finder of `ExpectedImports`.
            _hook(package)
        self._imports = ExpectedImports(packages, lambda package: [*map(self.install, adapters(package))])

    def install(self, adapter: Adapter) -> None:
        """Patch the targets of the adapter once, now or when their modules are imported."""
        if adapter in self._installed:  # the import of another package of the same SDK began earlier
            return
        self._installed.add(adapter)
        finalizers.watch()
        for target in adapter.targets():
            self.found[target.name] = "not imported"
            self._targets.setdefault(target.module, []).append((adapter, target))
            if target.module in sys.modules:
                self._imported(adapter, target, sys.modules[target.module])
            else:
                _hook(target.module)

    def uninstall(self) -> None:
        """Remove all patches. Wrappers that are still referenced stop observing."""
        self.active = False
        if self._imports is not None:
            self._imports.stop()
        for patch in reversed(self._patches):
            quietly("uninstrument", None, patch.undo)
        self._patches.clear()
        finalizers.unwatch()

    def _imported(self, adapter: Adapter, target: Target, module: Any) -> None:
        """Patch one target. It must not raise, because that would break the application's `import`."""
        quietly("patch", None, self._patch, adapter, target, module)

    def imported(self, module: Any) -> None:
        """A module with targets was imported: patch them."""
        for adapter, target in self._targets.get(module.__name__, ()):
            self._imported(adapter, target, module)

    def _patch(self, adapter: Adapter, target: Target, module: Any) -> None:
        owner = getattr(module, target.owner, None) if target.owner else module
        present = isinstance(owner, type | ModuleType) and unwrap.static(owner, target.attribute) is not None
        if isinstance(owner, type) and target.when is not None and not target.when(owner):
            self.found[target.name] = "not wanted"
            return
        if not present:
            self.found[target.name] = "missing"
            if not target.optional:
                warn_once(
                    target.name,
                    "llm-errors: patch target %s not found: %s",
                    target.name,
                    target.lost or _LOST.get(target.kind, _CALLS),
                )
            return
        self._put(owner, target, adapter)
        self.found[target.name] = "patched"
        if adapter.only_models and not self._prepared:
            self._prepared = True
            quietly("prepare", None, self._recorder.prepare)

    def _put(self, owner: Any, target: Target, adapter: Adapter) -> None:
        *_, ((holder, name), original) = unwrap.layers(owner, target.attribute, target.undecorated)
        wrap = WRAPPERS[target.kind] if isinstance(target.kind, Kind) else target.kind
        wrapper = wrap(Edge(self, adapter, self._recorder, target), original)
        functools.update_wrapper(wrapper, original)
        if target.owner:  # the function may be inherited
            wrapper.__module__, wrapper.__qualname__ = owner.__module__, f"{owner.__qualname__}.{target.attribute}"
        inherited = target.attribute not in vars(owner)
        setattr(holder, name, wrapper)
        self._patches.append(_Patch(owner, target.attribute, original, wrapper, inherited, target.undecorated))


_CALLS = "calls through it will not be observed"
_RETRIES = "retries that the SDK hides will not be counted; its calls and errors are"
_CLOSING = "a stream that the application closes early will be counted when it is dropped"
_LOST: dict[Any, str] = {
    **dict.fromkeys((Kind.CALL, Kind.ASYNC_CALL, Kind.GENERATOR, Kind.ASYNC_GENERATOR), _CALLS),
    **dict.fromkeys((Kind.ATTEMPT, Kind.ASYNC_ATTEMPT, Kind.RETRY, Kind.ASYNC_RETRY), _RETRIES),
    **dict.fromkeys((Kind.CLOSE, Kind.ASYNC_CLOSE), _CLOSING),
}
"""What is not observed if a target of a kind is missing."""

_patchers: "WeakSet[Patcher]" = WeakSet()
_hooked: set[str] = set()
"""Modules with an import hook. A hook cannot be removed, so all later patchers share it."""


def _hook(module: str) -> None:
    if module not in _hooked and module not in sys.modules:
        _hooked.add(module)
        wrapt.register_post_import_hook(_import_hook, module)


def _import_hook(module: Any) -> None:
    for patcher in list(_patchers):
        if patcher.active:
            patcher.imported(module)

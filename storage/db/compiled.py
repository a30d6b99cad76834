"""Queries written in Peewee, compiled to SQL once for each engine and set of absent filters.

Building a query's SQL costs ten times what running it does, so it happens once a process.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple

import peewee

Engine = Literal["sqlite", "postgresql"]

_SQLITE: Final = peewee.SqliteDatabase(None)
_POSTGRESQL: Final = peewee.PostgresqlDatabase(None)


class _Mark(NamedTuple):
    name: str


class Param(peewee.Value):  # type: ignore[misc]  # the stubs make it Any
    """Where a value will stand. Peewee's converters do not see it: ``bound`` prepares the value."""

    def __init__(self, name: str) -> None:
        super().__init__(_Mark(name), converter=False, unpack=False)


class any_of(peewee.Node):  # type: ignore[misc]  # reads as an operator: any_of(column, param)
    """``column IN (…)`` with a list as one param: the SQL does not grow with the list."""

    def __init__(self, column: peewee.Field, param: Param) -> None:
        super().__init__()
        self.column = column
        self.param = param

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        ctx.sql(self.column)
        if ctx.state.param == "%s":
            cast = "::uuid[])" if self.column.field_type == "UUID" else ")"
            return ctx.literal(" = ANY(").sql(self.param).literal(cast)
        return ctx.literal(" IN (SELECT value FROM json_each(").sql(self.param).literal("))")


class any_of_keys(peewee.Node):  # type: ignore[misc]  # reads as an operator, as any_of does
    """``(organisation_id, id) IN (…)``; the param is JSON text: an array of such pairs."""

    def __init__(self, table: type[peewee.Model], param: Param, column: str = "id") -> None:
        super().__init__()
        self.key = peewee.Tuple(table.organisation_id, getattr(table, column))
        self.param = param

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        ctx.sql(self.key)
        if ctx.state.param == "%s":
            ctx.literal(" IN (SELECT (value ->> 0)::uuid, (value ->> 1)::uuid FROM ")
            return _few_elements(ctx, self.param).literal(" AS each(value))")
        ctx.literal(" IN (SELECT value ->> 0, value ->> 1 FROM json_each(")
        return ctx.sql(self.param).literal("))")


class json_table(peewee.Node):  # type: ignore[misc]  # reads as a table
    """JSON text, an array of objects, as a table; ``columns`` have PostgreSQL's types.

    One statement then changes as many rows as there are objects, each in its own way.
    """

    def __init__(self, param: Param, alias: str, columns: dict[str, str]) -> None:
        super().__init__()
        self.param = param
        self.alias_name = alias
        self.columns = columns

    def column(self, name: str) -> peewee.SQL:
        return peewee.SQL(f'"{self.alias_name}".{name}')

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        if ctx.state.param == "%s":
            typed = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
            _few_elements(ctx, self.param).literal(" AS each(value), ")
            return ctx.literal(f'jsonb_to_record(each.value) AS "{self.alias_name}" ({typed})')
        picked = ", ".join(f"value ->> '{name}' AS {name}" for name in self.columns)
        ctx.literal(f"(SELECT {picked} FROM json_each(").sql(self.param)
        return ctx.literal(f')) AS "{self.alias_name}"')


def _few_elements(ctx: peewee.Context, param: Param) -> peewee.Context:
    """The elements of JSON text as a set that PostgreSQL expects to be small.

    Of a set of JSON's elements it expects a hundred, and would rather read a table of thousands
    than look a hundred rows up.
    """
    ctx.literal("unnest(ARRAY(SELECT jsonb_array_elements(").sql(param)
    return ctx.literal("::jsonb)))")


def server(engine: Engine) -> peewee.Node:
    """A column that names the server that answers: after a fail-over it is another one.

    Counters may then have lost their last steps and take them again with other contents, and a
    connection pooler hides the change from us. Empty on SQLite.
    """
    return peewee.SQL("''" if engine == "sqlite" else "pg_postmaster_start_time()::text")


class Statement:
    """SQL for one engine, and how the values of its params are put in their order.

    Lists stay as they are: each engine's connections know how to send them.
    """

    __slots__ = ("_constants", "_names", "_values_of", "sql")

    def __init__(self, sql: str, values: Sequence[Any]) -> None:
        self.sql = sql
        names = [
            value.name if type(value) is _Mark else f"constant {number}"
            for number, value in enumerate(values)
        ]
        self._constants = {
            name: value
            for name, value in zip(names, values, strict=True)
            if type(value) is not _Mark
        }
        self._names = names
        self._values_of = itemgetter(*names) if len(names) > 1 else self._few

    def bound(self, params: dict[str, Any]) -> Any:
        """The values to run it with, in the order of its params; instants in milliseconds."""
        values = self._values_of({**params, **self._constants} if self._constants else params)
        return [milliseconds(value) if type(value) is datetime else value for value in values]

    def _few(self, params: dict[str, Any]) -> tuple[Any, ...]:
        return tuple([params[name] for name in self._names])


class Compiled:
    """A query function and the statements made of it so far."""

    def __init__(self, build: Callable[..., Any]) -> None:
        self._build = build
        self.__doc__ = build.__doc__
        self.__name__ = build.__name__
        parameters = inspect.signature(build).parameters
        self._params = tuple(n for n, p in parameters.items() if "Param" in str(p.annotation))
        self._others = tuple(n for n in parameters if n not in self._params and n != "engine")
        self._wants_engine = "engine" in parameters
        self._statements: dict[Any, Statement] = {}

    def statement(self, engine: Engine, params: dict[str, Any]) -> Statement:
        """The SQL for these arguments; a param given as None counts as absent."""
        key: Any = (
            engine,
            tuple([params.get(name) is None for name in self._params]),
            tuple([params.get(name) for name in self._others]),
        )
        found = self._statements.get(key)
        if found is None:
            found = self._statements[key] = self._compile(engine, params)
        return found

    def _compile(self, engine: Engine, params: dict[str, Any]) -> Statement:
        unknown = params.keys() - set(self._params) - set(self._others)
        if unknown:
            raise TypeError(f"{self.__name__} has no param for {', '.join(sorted(unknown))}")
        arguments: dict[str, Any] = {
            name: None if params.get(name) is None else Param(name) for name in self._params
        }
        arguments |= {name: params[name] for name in self._others if name in params}
        if self._wants_engine:
            arguments["engine"] = engine
        return sql_of(self._build(**arguments), engine)


def compiled(build: Callable[..., Any]) -> Compiled:
    """Make a function that returns a Peewee query into one that is compiled once.

    Parameters annotated ``Param`` become bound values (``Param | None``: a filter that may be
    absent); a parameter called ``engine`` receives the engine's name; every other parameter is
    passed as it is and keeps a statement of its own for each value, so it must have few.
    """
    return Compiled(build)


def sql_of(query: Any, engine: Engine) -> Statement:
    """A Peewee query as one engine's SQL."""
    database = _SQLITE if engine == "sqlite" else _POSTGRESQL
    sql, values = database.get_sql_context().sql(query).query()
    return Statement(sql, values)


def insert_of(table: type[peewee.Model], columns: Sequence[str], engine: Engine) -> Statement:
    """One row's INSERT, its params named as the columns."""
    return sql_of(table.insert({name: Param(name) for name in columns}), engine)


# Few sizes come up: powers of two.
@lru_cache(maxsize=128)
def _inserts_of(table: Any, columns: tuple[str, ...], rows: int, engine: Engine) -> Statement:
    params = [{name: Param(f"{name}_{index}") for name in columns} for index in range(rows)]
    return sql_of(table.insert_many(params), engine)


def inserts_of(table: Any, columns: Sequence[str], rows: int, engine: Engine) -> Statement:
    """An INSERT of that many rows, its params named ``<column>_<index>``."""
    return _inserts_of(table, tuple(columns), rows, engine)


def update_of(
    table: type[peewee.Model], changed: Sequence[str], matched: Sequence[str], engine: Engine
) -> Statement:
    """An UPDATE where every ``matched`` column equals its param ``where_<column>``."""
    query = table.update({name: Param(name) for name in changed})
    for name in matched:
        query = query.where(getattr(table, name) == Param(f"where_{name}"))
    return sql_of(query, engine)


def milliseconds(instant: datetime) -> int:
    """An aware datetime as whole milliseconds since 1970, as the columns hold it."""
    return round(instant.timestamp() * 1000)

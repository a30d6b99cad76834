"""Queries written in Peewee, compiled to SQL once for each engine and set of absent filters.

Building a query's SQL costs ten times what running it does, so it happens once a process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import (
    Annotated,
    Any,
    Concatenate,
    Final,
    Generic,
    Literal,
    ParamSpec,
    TypeVar,
    get_args,
    get_type_hints,
)

import orjson
import peewee

P = ParamSpec("P")
T = TypeVar("T")
Engine = Literal["sqlite", "postgresql"]

_SQLITE: Final = peewee.SqliteDatabase(None)
_POSTGRESQL: Final = peewee.PostgresqlDatabase(None)


# A placeholder, or what is none although it has its characters: for SQLite a question mark inside
# quotes, for psycopg an escaped percent sign. psycopg does not care about quotes.
_PLACES: Final[dict[Engine, re.Pattern[str]]] = {
    "sqlite": re.compile(r"""'[^']*'|"[^"]*"|\?"""),
    "postgresql": re.compile(r"%[s%]?"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Name:
    name: str


_PARAM: Final = "parameter"

# The type of a query function's parameter whose value is bound. Callers pass the value; the
# function receives a ``Placeholder``. ``Param[str] | None`` is a filter that may be absent: the
# function then receives None and builds another statement. ``Param[str | None]`` binds NULL.
Param = Annotated[T, _PARAM]


# A column, condition or subquery. In Peewee's stubs, operators lose the type of a column.
Expr = Any


class Placeholder(peewee.Value):  # type: ignore[misc]  # the stubs make it Any
    """The place of a bound value. ``bound`` converts the value, not Peewee's converters."""

    def __init__(self, name: str) -> None:
        super().__init__(_Name(name=name), converter=False, unpack=False)


class any_of(peewee.Node):  # type: ignore[misc]  # reads as an operator: any_of(column, user_ids)
    """``column IN (…)`` with a list as one parameter: the SQL does not grow with the list."""

    def __init__(self, column: Expr, param: Sequence[str] | Sequence[int]) -> None:
        super().__init__()
        self.column = column
        self.param = param

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        ctx.sql(self.column)
        if ctx.state.param == "%s":
            # Other expressions are numbers.
            kind = getattr(self.column, "field_type", "BIGINT")
            cast = f"::{kind.lower()}[])" if kind in ("UUID", "BIGINT") else ")"
            return ctx.literal(" = ANY(").sql(self.param).literal(cast)
        return ctx.literal(" IN (SELECT value FROM json_each(").sql(self.param).literal("))")


class any_of_keys(peewee.Node):  # type: ignore[misc]  # reads as an operator, as any_of does
    """``(organisation_id, id) IN (…)``; the parameter is JSON text: an array of such pairs."""

    def __init__(self, table: type[peewee.Model], param: str, column: str = "id") -> None:
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


def json_of_keys(keys: Iterable[Iterable[str]]) -> str:
    """The parameter of ``any_of_keys``."""
    return orjson.dumps(sorted({tuple(key) for key in keys})).decode()


class any_of_few(peewee.Node):  # type: ignore[misc]  # reads as an operator, as any_of does
    """``column IN (SELECT …)``, for a subquery with few rows.

    PostgreSQL then runs it first and reads an index for each of its rows. Of a join it estimates as
    many rows as in an average organisation, and then scans all rows of a larger one.
    """

    def __init__(self, column: peewee.Field, subquery: Expr) -> None:
        super().__init__()
        self.column = column
        self.subquery = subquery

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        if ctx.state.param != "%s":
            return ctx.sql(self.column.in_(self.subquery))
        ctx.sql(self.column).literal(" = ANY(ARRAY")
        with ctx(subquery=True):
            ctx.sql(self.subquery)
        return ctx.literal(")")


class json_table(peewee.Node):  # type: ignore[misc]  # reads as a table
    """JSON text, an array of objects, as a table; ``columns`` have PostgreSQL's types.

    One statement then changes as many rows as there are objects, each in its own way.
    """

    def __init__(self, param: str, alias: str, columns: dict[str, str]) -> None:
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
        # With a limit SQLite takes the values out of the JSON once, and not at each comparison.
        return ctx.literal(f') LIMIT -1) AS "{self.alias_name}"')


def _few_elements(ctx: peewee.Context, param: str) -> peewee.Context:
    """The elements of JSON text, in a form for which PostgreSQL expects few rows.

    For a plain ``jsonb_array_elements`` it expects a hundred rows, and then scans a table of
    thousands instead of using the index.
    """
    ctx.literal("unnest(ARRAY(SELECT jsonb_array_elements(").sql(param)
    return ctx.literal("::jsonb)))")


def unindexed(column: peewee.Field, engine: Engine) -> Expr:
    """The same value as an expression that no index serves; of an id, on PostgreSQL, its text.

    For columns by which a planner would choose a slow index, as it cannot know the data.
    """
    if engine == "sqlite":
        return peewee.NodeList((peewee.SQL("+"), column), parens=True)
    suffix = {"UUID": "::text", "VARCHAR": "|| ''"}.get(column.field_type, "+ 0")
    return peewee.NodeList((column, peewee.SQL(suffix)), parens=True)


def is_true(condition: Expr) -> Expr:
    """A condition on an ``IN (SELECT …)`` that is checked row by row, with no index and no join."""
    return peewee.NodeList((condition, peewee.SQL("IS TRUE")), parens=True)


def often_true(condition: Expr) -> Expr:
    """A condition that is checked row by row, and that PostgreSQL takes half of the rows to meet.

    For the filters of a list that is read in its order until the page is full. Of conditions like
    `unindexed` ones, PostgreSQL takes one row in 200 to meet each. With two of them it expects not
    to fill the page, and reads and sorts the organisation.
    """
    return peewee.Case(None, [(condition, peewee.SQL("TRUE"))])


def server(engine: Engine) -> peewee.Node:
    """A column that identifies the server and changes with a fail-over; empty on SQLite.

    A fail-over may lose the last commits. Counters then reach the same numbers again for other
    contents. Behind a connection pooler, the column's value may stay the same.
    """
    return peewee.SQL("''" if engine == "sqlite" else "pg_postmaster_start_time()::text")


class Statement:
    """SQL for one engine, and the order of the values that it binds.

    Lists stay as they are: each engine's connections know how to send them.
    """

    __slots__ = ("_constants", "_names", "_values_of", "sql")

    def __init__(self, sql: str, values: Sequence[Any]) -> None:
        self.sql = sql
        names = [
            value.name if type(value) is _Name else f"constant {number}"
            for number, value in enumerate(values)
        ]
        self._constants = {
            name: value
            for name, value in zip(names, values, strict=True)
            if type(value) is not _Name
        }
        self._names = names
        self._values_of = itemgetter(*names) if len(names) > 1 else self._few

    def bound(self, params: Mapping[str, Any]) -> list[Any]:
        """The values to run it with, in the order of its placeholders; instants in milliseconds."""
        values = self._values_of({**params, **self._constants} if self._constants else params)
        return [milliseconds(value) if type(value) is datetime else value for value in values]

    def _few(self, params: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple([params[name] for name in self._names])


# Of all queries; each combination of absent filters and other parameters has its own.
_statements: Final[dict[Any, Statement]] = {}
_MAX_STATEMENTS: Final = 4_096


class Compiled(Generic[P]):
    """A query function and the statements compiled from it so far."""

    def __init__(self, build: Callable[..., Any], *, is_per_engine: bool) -> None:
        self._build = build
        self._is_per_engine = is_per_engine
        self.__doc__ = build.__doc__
        self.__name__ = build.__name__
        types = get_type_hints(build, include_extras=True)
        names = [name for name in types if name != "return"][is_per_engine:]
        self._names = frozenset(names)
        self._params = tuple(name for name in names if _is_param(types[name]))
        # Each combination of absent filters and other parameters is a statement of its own.
        self._filters = tuple(name for name in self._params if type(None) in get_args(types[name]))
        self._variants = tuple(name for name in names if name not in self._params)

    def bind(
        self, engine: Engine, args: Sequence[object], params: Mapping[str, Any]
    ) -> tuple[str, list[Any]]:
        """The SQL for these parameters and the values in the order of its placeholders.

        Raises TypeError unless exactly the function's parameters are passed, by name: a filter that
        was left out by mistake must not mean "everything". ``args`` has to be
        empty; it is there because the type system needs it beside ``params``.
        """
        if args or params.keys() != self._names:
            raise TypeError(self._mismatch(args, params))
        key = (
            self,
            engine,
            *[params[name] is None for name in self._filters],
            *[params[name] for name in self._variants],
        )
        statement = _statements.get(key)
        if statement is None:
            if len(_statements) >= _MAX_STATEMENTS:
                _statements.clear()
            statement = _statements[key] = self._compile(engine, params)
        return statement.sql, statement.bound(params)

    def _mismatch(self, args: Sequence[object], params: Mapping[str, object]) -> str:
        problems = [f"missing parameter {name!r}" for name in sorted(self._names - params.keys())]
        problems += [f"unknown parameter {name!r}" for name in sorted(params.keys() - self._names)]
        if args:
            problems.append("parameters are passed by name")
        return f"{self.__name__}: {', '.join(problems)}"

    def _compile(self, engine: Engine, params: Mapping[str, Any]) -> Statement:
        absent = {name for name in self._filters if params[name] is None}
        arguments = {
            name: None if name in absent else Placeholder(name) for name in self._params
        } | {name: params[name] for name in self._variants}
        engine_first = (engine,) if self._is_per_engine else ()
        return sql_of(self._build(*engine_first, **arguments), engine)


def _is_param(annotation: Any) -> bool:
    return any(
        _PARAM in getattr(part, "__metadata__", ()) for part in (annotation, *get_args(annotation))
    )


def compiled(build: Callable[P, Any]) -> Compiled[P]:
    """Make a function that returns a Peewee query into one that is compiled once.

    Parameters annotated ``Param`` become bound values. Every other parameter is passed as it is
    and keeps a statement of its own for each value, so it must have few. Defaults do not count.
    """
    return Compiled(build, is_per_engine=False)


def compiled_per_engine(build: Callable[Concatenate[Engine, P], Any]) -> Compiled[P]:
    """As ``compiled``, for SQL that differs: the function's first parameter is the engine."""
    return Compiled(build, is_per_engine=True)


def sql_of(query: Any, engine: Engine) -> Statement:
    """A Peewee query as one engine's SQL."""
    database = _SQLITE if engine == "sqlite" else _POSTGRESQL
    sql, values = database.get_sql_context().sql(query).query()
    return _with_literals(sql, values, engine)


def _with_literals(sql: str, values: Sequence[Any], engine: Engine) -> Statement:
    """A statement with the query's own constants as literals.

    PostgreSQL plans a statement once for all values of its parameters (``postgresql.py``). Only
    for a literal does it know how rare the value is and whether a partial index applies. SQLite
    would plan the statement again for each execution, to compare parameters with the conditions
    of partial indexes.
    """
    params: list[Any] = []
    rest = iter(values)
    places = 0

    def filled(found: re.Match[str]) -> str:
        nonlocal places
        place = found[0]
        if place == "%":
            raise ValueError(f"psycopg reads % as the beginning of a placeholder, write %%: {sql}")
        if place not in ("?", "%s"):
            return place
        places += 1
        value: Any = next(rest, None)
        if type(value) in (str, int, bool):
            return _literal(value, engine)
        params.append(value)
        return place

    text = _PLACES[engine].sub(filled, sql)
    if places != len(values):
        raise ValueError(f"the SQL has {places} placeholders for {len(values)} values: {sql}")
    return Statement(text, params)


def _literal(value: str | int | bool, engine: Engine) -> str:
    if not isinstance(value, str):
        return str(value)
    text = value.replace("'", "''")
    # psycopg reads % as the beginning of a placeholder.
    return f"'{text}'" if engine == "sqlite" else f"'{text.replace('%', '%%')}'"


@lru_cache(maxsize=512)
def insert_of(table: type[peewee.Model], columns: tuple[str, ...], engine: Engine) -> Statement:
    """One row's INSERT, its parameters named as the columns."""
    return sql_of(table.insert({name: Placeholder(name) for name in columns}), engine)


# ``rows`` is always a power of two, so there are few statements.
@lru_cache(maxsize=128)
def inserts_of(table: Any, columns: tuple[str, ...], rows: int, engine: Engine) -> Statement:
    """An INSERT of that many rows, its parameters named ``<column>_<index>``."""
    params = [{name: Placeholder(f"{name}_{index}") for name in columns} for index in range(rows)]
    return sql_of(table.insert_many(params), engine)


@lru_cache(maxsize=512)
def update_of(
    table: type[peewee.Model], changed: tuple[str, ...], matched: tuple[str, ...], engine: Engine
) -> Statement:
    """An UPDATE where every ``matched`` column equals the parameter ``where_<column>``."""
    query = table.update({name: Placeholder(name) for name in changed})
    for name in matched:
        column = getattr(table, name)
        if engine == "sqlite" and name == "status":
            # Else it is planned again for each execution, as `_with_literals` says.
            column = unindexed(column, engine)
        query = query.where(column == Placeholder(f"where_{name}"))
    return sql_of(query, engine)


@lru_cache(maxsize=512)
def select_of(table: type[peewee.Model], matched: tuple[str, ...], engine: Engine) -> Statement:
    """A SELECT where every ``matched`` column equals the parameter of its name."""
    query = table.select()
    for name in matched:
        query = query.where(getattr(table, name) == Placeholder(name))
    return sql_of(query, engine)


@lru_cache(maxsize=128)
def delete_of(table: type[peewee.Model], matched: tuple[str, ...], engine: Engine) -> Statement:
    """A DELETE where every ``matched`` column equals the parameter of its name."""
    query = table.delete()
    for name in matched:
        query = query.where(getattr(table, name) == Placeholder(name))
    return sql_of(query, engine)


def milliseconds(instant: datetime) -> int:
    """An aware datetime as whole milliseconds since 1970, as the columns hold it."""
    return round(instant.timestamp() * 1000)

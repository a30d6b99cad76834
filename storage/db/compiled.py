"""Queries written in Peewee, compiled to SQL once for each engine and set of absent filters.

Building a query's SQL costs ten times what running it does, so it happens once a process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
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

_DATABASES: Final[dict[Engine, peewee.Database]] = {
    "sqlite": peewee.SqliteDatabase(None),
    "postgresql": peewee.PostgresqlDatabase(None),
}
_PARAM: Final = "parameter"

# The type of a query function's parameter whose value is bound. Callers pass the value; the
# function receives a ``Placeholder``. ``Param[str] | None`` is a filter that may be absent: the
# function then receives None and builds another statement. ``Param[str | None]`` binds NULL.
Param = Annotated[T, _PARAM]

# A column, condition or subquery. In Peewee's stubs, operators lose the type of a column.
Expr = Any
# A model of storage.db.tables: a class, which mypy does not take for hashable.
Table = Any


class Placeholder(peewee.Value):  # type: ignore[misc]  # the stubs make it Any
    """The place of a bound value, in whose stead the query has the parameter's name."""

    def __init__(self, name: str) -> None:
        super().__init__(name, converter=False)

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        with ctx(value_literals=False):
            return super().__sql__(ctx)


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

    def __init__(self, table: Table, param: str, column: str = "id") -> None:
        super().__init__()
        self.key = peewee.Tuple(table.organisation_id, getattr(table, column))
        self.param = param

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        ctx.sql(self.key)
        if ctx.state.param == "%s":
            ctx.literal(" IN (SELECT (value ->> 0)::uuid, (value ->> 1)::uuid FROM ")
            ctx.literal("jsonb_array_elements(").sql(self.param)
            return ctx.literal("::jsonb) AS each(value))")
        ctx.literal(" IN (SELECT value ->> 0, value ->> 1 FROM json_each(")
        return ctx.sql(self.param).literal("))")


def json_of_keys(keys: Iterable[Iterable[str]]) -> str:
    """The parameter of ``any_of_keys``."""
    return orjson.dumps(sorted({tuple(key) for key in keys})).decode()


class json_member(peewee.ColumnBase):  # type: ignore[misc]  # reads as a column
    """A text member of the JSON object in a text column."""

    def __init__(self, column: Expr, name: str) -> None:
        super().__init__()
        self.column = column
        self.name = name

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        cast = "::jsonb" if ctx.state.param == "%s" else ""
        return ctx.literal("(").sql(self.column).literal(f"{cast} ->> '{self.name}')")


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
            ctx.literal("jsonb_to_recordset(").sql(self.param)
            return ctx.literal(f'::jsonb) AS "{self.alias_name}" ({typed})')
        picked = ", ".join(f"value ->> '{name}' AS {name}" for name in self.columns)
        ctx.literal(f"(SELECT {picked} FROM json_each(").sql(self.param)
        # With a limit SQLite takes the values out of the JSON once, and not at each comparison.
        return ctx.literal(f') LIMIT -1) AS "{self.alias_name}"')


def update_each(
    table: Table,
    param: str,
    names: Sequence[str],
    before: Mapping[str, str],
    others: Mapping[str, object] | None = None,
) -> Any:
    """An UPDATE of the columns ``names`` with the JSON objects of ``param``, one for each row.

    ``before`` maps other members of the objects to the columns that must still have their values.
    """
    matched = {"organisation_id": "organisation_id", "id": "id", **before}
    members = matched | {name: name for name in names}
    types = {name: getattr(table, column).field_type for name, column in members.items()}
    new = json_table(param, "new", types)
    changes = {name: new.column(name) for name in names} | dict(others or {})
    # By the table's organisation as well: with a constant, SQLite would scan the organisation.
    is_before = [getattr(table, column) == new.column(name) for name, column in matched.items()]
    return table.update(changes).from_(new).where(*is_before)


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL for one engine, and the names of the parameters that it binds, in order.

    Lists stay as they are: each engine's connections know how to send them.
    """

    sql: str
    names: tuple[str, ...]

    def bound(self, params: Mapping[str, Any]) -> list[Any]:
        """The values to run it with; instants in milliseconds."""
        values = [params[name] for name in self.names]
        return [milliseconds(value) if type(value) is datetime else value for value in values]


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
        self._filters = tuple(name for name in self._params if type(None) in get_args(types[name]))
        self._variants = tuple(name for name in names if name not in self._params)
        # By engine, absent filters and the values of variants.
        self._statements: dict[tuple[object, ...], Statement] = {}

    def bind(
        self, engine: Engine, args: Sequence[object], params: Mapping[str, Any]
    ) -> tuple[str, list[Any]]:
        """The SQL for these parameters and the values in the order of its placeholders.

        Raises TypeError unless exactly the function's parameters are passed, by name: a filter that
        was left out by mistake must not mean "everything". ``args`` has to be empty; the type
        system needs it beside ``params``.
        """
        if args or params.keys() != self._names:
            raise TypeError(
                f"{self.__name__} takes {sorted(self._names)} by name, not {sorted(params)}"
            )
        key = (
            engine,
            *[params[name] is None for name in self._filters],
            *[params[name] for name in self._variants],
        )
        statement = self._statements.get(key)
        if statement is None:
            statement = self._statements[key] = self._compile(engine, params)
        return statement.sql, statement.bound(params)

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
    """A Peewee query as one engine's SQL.

    The query's own constants are literals, so that indexes with a condition serve them.
    """
    sql, names = _DATABASES[engine].get_sql_context().sql(peewee.ValueLiterals(query)).query()
    return Statement(sql, tuple(names))


# As the value of a matched column: any value but NULL.
NOT_NULL: Final = object()
# How a column is matched: with a value, NULL, NOT NULL, or any item of a list.
Match = tuple[str, Literal["value", "null", "not null", "any"]]


def matches_of(where: Mapping[str, object]) -> tuple[Match, ...]:
    """How these columns are matched: None is NULL, and a list any of its items."""

    def match(name: str, value: object) -> Match:
        if value is None:
            return name, "null"
        if value is NOT_NULL:
            return name, "not null"
        return name, "any" if type(value) is list else "value"

    return tuple([match(name, value) for name, value in where.items()])


@lru_cache(maxsize=1_024)
def insert_of(table: Table, columns: tuple[str, ...], rows: int, engine: Engine) -> Statement:
    """An INSERT of that many rows, its parameters named ``<column>_<index>``."""
    params = [{name: Placeholder(f"{name}_{index}") for name in columns} for index in range(rows)]
    return sql_of(table.insert_many(params), engine)


@lru_cache(maxsize=1_024)
def upsert_of(
    table: Table, key: tuple[str, ...], changed: tuple[str, ...], engine: Engine
) -> Statement:
    """An INSERT of one row, or an UPDATE of the ``changed`` columns of the row with its ``key``.

    Without a key, a row that a unique index refuses is left out.
    """
    params = {name: Placeholder(name) for name in (*key, *changed)}
    query = table.insert(params)
    if not key:
        return sql_of(query.on_conflict_ignore(), engine)
    target = [getattr(table, name) for name in key]
    update = {getattr(table, name): params[name] for name in changed}
    return sql_of(query.on_conflict(conflict_target=target, update=update), engine)


@lru_cache(maxsize=1_024)
def update_of(
    table: Table, changed: tuple[str, ...], matched: tuple[Match, ...], engine: Engine
) -> Statement:
    """An UPDATE of the rows that match the parameters ``where_<column>``."""
    query = table.update({name: Placeholder(name) for name in changed})
    return sql_of(_where(query, table, matched, prefix="where_"), engine)


@lru_cache(maxsize=1_024)
def select_of(table: Table, matched: tuple[Match, ...], lock: str, engine: Engine) -> Statement:
    """A SELECT of the rows that match the parameters of their columns' names.

    PostgreSQL locks them with ``lock`` unless it is empty, in the order of their keys.
    """
    query = _where(table.select(), table, matched)
    if lock and engine == "postgresql":
        query = query.order_by(*table._meta.get_primary_keys()).for_update(lock)
    return sql_of(query, engine)


@lru_cache(maxsize=1_024)
def page_select_of(
    table: Table, matched: tuple[Match, ...], is_first: bool, descends: bool, engine: Engine
) -> Statement:
    """As ``select_of``, by id: up to ``limit`` rows, unless ``is_first`` after ``after_id``."""
    query = _where(table.select(), table, matched)
    if not is_first:
        after_id = Placeholder("after_id")
        query = query.where(table.id < after_id if descends else table.id > after_id)
    order = table.id.desc() if descends else table.id
    return sql_of(query.order_by(order).limit(Placeholder("limit")), engine)


@lru_cache(maxsize=1_024)
def delete_before_of(table: Table, column: str, engine: Engine) -> Statement:
    """A DELETE of up to ``limit`` rows whose column is less than ``before``."""
    key = table._meta.get_primary_keys()
    is_old = getattr(table, column) < Placeholder("before")
    old = table.select(*key).where(is_old).limit(Placeholder("limit"))
    return sql_of(table.delete().where(peewee.Tuple(*key).in_(old)), engine)


@lru_cache(maxsize=1_024)
def delete_of(table: Table, matched: tuple[Match, ...], engine: Engine) -> Statement:
    """A DELETE of the rows that match the parameters of their columns' names."""
    return sql_of(_where(table.delete(), table, matched), engine)


def _where(query: Any, table: Table, matched: tuple[Match, ...], prefix: str = "") -> Any:
    for name, kind in matched:
        column, param = getattr(table, name), Placeholder(prefix + name)
        if kind in ("null", "not null"):
            query = query.where(column.is_null(kind == "null"))
        else:
            query = query.where(any_of(column, param) if kind == "any" else column == param)
    return query


def milliseconds(instant: datetime) -> int:
    """An aware datetime as whole milliseconds since 1970, as the columns hold it."""
    return round(instant.timestamp() * 1000)

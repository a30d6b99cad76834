"""The errors that storage raises.

    DomainError
      InvalidInput            a field is wrong; carries one or more FieldError
      NotFound                missing, or not visible to the caller
      Forbidden
        InsufficientRole
        InsufficientScope
        OwnRequest
        NotYourField
        RecordingNotAllowed
        LeaveTypeNotRecordable
        OverrideNotAllowed
      Unauthenticated
      Conflict
        AmendmentEnded
        InvalidTransition
        AlreadyObjected
        DaysNoLongerFit
        OverlappingLeave
        EmailTaken
        CodeTaken
        NameTaken
        AlreadyExists
        LastOwner
        InUse
        CannotArchiveSelf
      InsufficientAllowance
      AbsenceLimitExceeded
      UnusableCursor
    SchemaOutOfDate           for the operator, not for callers
      SchemaTooNew
    SecretKeysUnusable        for the operator as well
    DatabaseUnavailable       temporary: callers may retry
      OutcomeUnknown          the only error after which the change may have been saved

``code`` is public and never changes; sentences may change.
"""

from __future__ import annotations

from storage.base.errors.general import (
    AlreadyExists,
    CannotArchiveSelf,
    CodeTaken,
    Conflict,
    DomainError,
    EmailTaken,
    EmployeeNumberTaken,
    FieldError,
    Forbidden,
    InsufficientRole,
    InsufficientScope,
    InUse,
    InvalidInput,
    LastOwner,
    NameTaken,
    NotFound,
    NotYourField,
    Unauthenticated,
    UnusableCursor,
)
from storage.base.errors.leave import (
    AbsenceLimitExceeded,
    AlreadyObjected,
    AmendmentEnded,
    ClosureLeave,
    DaysNoLongerFit,
    InsufficientAllowance,
    InvalidTransition,
    LeaveTypeNotRecordable,
    OverlappingLeave,
    OverrideNotAllowed,
    OwnRequest,
    RecordingNotAllowed,
)
from storage.base.errors.operator import (
    DatabaseUnavailable,
    FailureKind,
    OutcomeUnknown,
    SchemaOutOfDate,
    SchemaTooNew,
    SecretKeysUnusable,
)
from storage.base.errors.sentences import (
    Days,
    Figure,
    HalfDays,
    Sentence,
    ShortDay,
)

__all__ = [
    "AbsenceLimitExceeded",
    "AlreadyExists",
    "AlreadyObjected",
    "AmendmentEnded",
    "CannotArchiveSelf",
    "ClosureLeave",
    "CodeTaken",
    "Conflict",
    "DatabaseUnavailable",
    "Days",
    "DaysNoLongerFit",
    "DomainError",
    "EmailTaken",
    "EmployeeNumberTaken",
    "FailureKind",
    "FieldError",
    "Figure",
    "Forbidden",
    "HalfDays",
    "InUse",
    "InsufficientAllowance",
    "InsufficientRole",
    "InsufficientScope",
    "InvalidInput",
    "InvalidTransition",
    "LastOwner",
    "LeaveTypeNotRecordable",
    "NameTaken",
    "NotFound",
    "NotYourField",
    "OutcomeUnknown",
    "OverlappingLeave",
    "OverrideNotAllowed",
    "OwnRequest",
    "RecordingNotAllowed",
    "SchemaOutOfDate",
    "SchemaTooNew",
    "SecretKeysUnusable",
    "Sentence",
    "ShortDay",
    "Unauthenticated",
    "UnusableCursor",
]

@_exported public import MillpondCore
@_exported public import MillpondEntities
@_exported public import MillpondSignals

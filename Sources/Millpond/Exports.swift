@_exported public import MillpondCore
@_exported public import MillpondSignals

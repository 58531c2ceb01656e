import MillpondCore

/// What a store was made with: two caches of one folder have to agree about it.
struct DiskOptions: Sendable {
  var byteLimit: Int
  var timeToLive = TimeToLive.never
  var policy = EvictionPolicy.adaptive
  var form = ValueForm(schema: .unversioned, sealing: nil)

  var protection = DiskProtection.afterFirstUnlock

  /// By which values grow old.
  var now: @Sendable () -> WallTime = { .now }

  /// Whether a store with these options serves a cache that was made with `other`.
  ///
  /// Closures can't be compared; whether there is one can.
  func agrees(with other: DiskOptions) -> Bool {
    byteLimit == other.byteLimit && timeToLive == other.timeToLive && policy == other.policy
      && protection == other.protection && form.schema.version == other.form.schema.version
      && (form.sealing == nil) == (other.form.sealing == nil)
  }
}

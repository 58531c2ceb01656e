extension Duration {
  /// So many minutes; at most the seconds of an `Int64`.
  @inlinable
  public static func minutes(_ minutes: some BinaryInteger) -> Duration {
    seconds(of: 60, times: Int64(clamping: minutes))
  }

  /// So many hours; at most the seconds of an `Int64`.
  @inlinable
  public static func hours(_ hours: some BinaryInteger) -> Duration {
    seconds(of: 3_600, times: Int64(clamping: hours))
  }

  /// So many days of 24 hours; at most the seconds of an `Int64`.
  @inlinable
  public static func days(_ days: some BinaryInteger) -> Duration {
    seconds(of: 86_400, times: Int64(clamping: days))
  }

  @usableFromInline
  static func seconds(of unit: Int128, times count: Int64) -> Duration {
    .seconds(Int64(clamping: unit * Int128(count)))
  }
}

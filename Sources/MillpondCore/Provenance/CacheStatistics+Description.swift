import MillpondSignals

extension CacheStatistics: CustomStringConvertible {
  /// The counts that are not zero, hits and misses in any case, and the times if any were measured:
  /// "170 hits, 20 misses (2 too old), 3 joins; median 190 ms, longest 1.2 s".
  public var description: String {
    let gets = [
      "\(hits) hits",
      "\(misses) misses" + details([(tooOld, "too old"), (undecodable, "undecodable")]),
      failures == 0 ? nil : "\(failures) failures" + details([(refusals, "refused")]),
    ]
    let others = [
      (revalidations, "revalidations"), (flights, "flights"), (joins, "joins"),
      (failedFills, "failed fills"), (failedWrites, "failed writes"),
    ]
    let counts = gets.compactMap { $0 } + others.filter { $0.0 > 0 }.map { "\($0) \($1)" }
    return counts.joined(separator: ", ") + (times.count == 0 ? "" : "; \(times)")
  }

  private func details(_ parts: [(count: Int, name: String)]) -> String {
    let named = parts.filter { $0.count > 0 }.map { "\($0.count) \($0.name)" }
    return named.isEmpty ? "" : " (\(named.joined(separator: ", ")))"
  }
}

extension Histogram: CustomStringConvertible {
  /// The median and the longest duration: "median 190 µs, longest 1.2 s"; "none" without durations.
  public var description: String {
    count == 0 ? "none" : "median \(quantile(0.5).brief), longest \(longest.brief)"
  }
}

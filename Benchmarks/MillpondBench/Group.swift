/// Rows about one thing, which are a section of the page.
struct Group {
  let name: String
  let title: String
  let summary: String
  var rows: [Row]

  static var all: [Group] {
    [
      Group(
        name: "signals", title: "Signals", summary: "events, subscriptions and combinations",
        rows: chainRows() + makingRows() + subjectRows() + replayRows() + combiningRows()
          + threadRows()),
      Group(
        name: "caches", title: "Caches",
        summary: "hits and misses of compositions, beside tasks too",
        rows: cacheRows() + compositionRows() + multiplexerRows() + responseRows() + taskRows()),
      Group(
        name: "memory", title: "Memory", summary: "MemoryCache beside a dictionary and NSCache",
        rows: memoryRows()),
      Group(
        name: "hit-ratio", title: "Hit ratio",
        summary: "its hits beside those of LRU and the optimum",
        rows: hitRatioRows()),
      Group(
        name: "disk", title: "Disk", summary: "DiskCache beside pwrite, pread and files",
        rows: diskRows()),
      Group(
        name: "network", title: "Network", summary: "HTTPSource and HTTPCache beside URLSession",
        rows: networkRows()),
      Group(
        name: "entities", title: "Entities", summary: "EntityStore beside a dictionary",
        rows: entityRows()),
      Group(
        name: "redis", title: "A shared server",
        summary: "RedisCache beside a bare socket, where a server is installed", rows: redisRows()),
      Group(
        name: "worst", title: "Worst cases",
        summary:
          "growth with the number of things, and waits of other threads",
        rows: worstRows()),
    ]
  }

  /// Returns the groups with the rows that are named, in order; without names, with all rows.
  ///
  /// - Throws: ``OptionsError`` for the name of no group, with which no row begins.
  static func named(_ names: [String]) throws(OptionsError) -> [Group] {
    for name in names where !all.contains(where: { $0.has(name) }) { throw .unknownRow(name) }
    if names.isEmpty { return all }
    return all.compactMap { group in
      var group = group
      if !names.contains(group.name) {
        group.rows = group.rows.filter { row in names.contains { row.name.hasPrefix($0) } }
      }
      return group.rows.isEmpty ? nil : group
    }
  }

  private func has(_ name: String) -> Bool {
    name == self.name || rows.contains { $0.name.hasPrefix(name) }
  }
}

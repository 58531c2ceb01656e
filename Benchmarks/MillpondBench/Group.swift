/// Rows about one thing, and their results: a section of the page.
struct Group {
  let name: String
  let summary: String
  var rows: [Row]
  var samples: [Sample] = []

  static var all: [Group] {
    [
      Group(
        name: "signals", summary: "events, subscriptions and combinations",
        rows: chainRows() + makingRows() + subjectRows() + replayRows() + combiningRows()
          + threadRows()),
      Group(
        name: "caches", summary: "hits and misses of compositions, beside tasks too",
        rows: cacheRows() + responseRows() + taskRows()),
      Group(
        name: "memory", summary: "MemoryCache beside a dictionary and NSCache", rows: memoryRows()),
      Group(
        name: "hit-ratio", summary: "its hits beside those of LRU and the optimum",
        rows: [hitRatioRow()]),
      Group(
        name: "disk", summary: "DiskCache beside pwrite, pread and files", rows: diskRows()),
      Group(
        name: "network", summary: "HTTPSource and HTTPCache beside URLSession", rows: networkRows()),
      Group(name: "entities", summary: "EntityStore beside a dictionary", rows: entityRows()),
      Group(
        name: "redis", summary: "RedisCache beside a bare socket, where a server is installed",
        rows: redisRows()),
      Group(
        name: "worst", summary: "growth with the number of things, and waits of other threads",
        rows: worstRows()),
    ]
  }

  /// Returns the groups with the rows that are named, in order; without names, with all rows.
  ///
  /// - Throws: ``Trouble`` for the name of no group, with which no row begins.
  static func named(_ names: [String]) throws(Trouble) -> [Group] {
    if names.isEmpty { return all }
    var unknown = Set(names)
    let groups = all.compactMap { group in
      var group = group
      group.rows = group.rows.filter { row in
        let fitting = names.filter { $0 == group.name || row.name.hasPrefix($0) }
        unknown.subtract(fitting)
        return !fitting.isEmpty
      }
      return group.rows.isEmpty ? nil : group
    }
    if let name = unknown.first { throw Trouble("no row is called \(name); see --list") }
    return groups
  }
}

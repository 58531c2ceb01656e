/// Measures rows that share their keys, and reports each as soon as it is known.
func measure<Key: BenchKey>(
  _ rows: [MemoryRow], _ ground: Ground<Key>, _ effort: MemoryEffort,
  _ tell: (MemoryMeasurement) -> Void
) {
  for row in rows {
    tell(row.operation == .bytes ? weigh(row, ground) : time(row, ground, effort))
  }
}

/// Times ours and the two it is compared with by turns.
private func time<Key: BenchKey>(
  _ row: MemoryRow, _ ground: Ground<Key>, _ effort: MemoryEffort
) -> MemoryMeasurement {
  let visits = row.visits(ground, effort)
  let length = max(1, visits.count)
  let operations = max(1, effort.visits * row.threads / length) * length
  var timings = row.works(ground, visits).map {
    Timing($0, row.operation == .insert ? length : operations)
  }
  for _ in 0..<effort.repetitions(row.size) {
    for index in timings.indices { timings[index].repeatOnce() }
  }
  let figure: Figure = row.threads == 1 ? .best : .median
  return MemoryMeasurement(
    row, timings.map { $0.figure(figure) }, isSumRight: timings.allSatisfy(\.isSumRight))
}

/// Weighs one of each, full.
private func weigh<Key: BenchKey>(_ row: MemoryRow, _ ground: Ground<Key>) -> MemoryMeasurement {
  let weights = [
    weight(OwnShelf<Key>.self, ground), weight(DictionaryShelf<Key>.self, ground),
    weight(NSCacheShelf<Key>.self, ground),
  ]
  return MemoryMeasurement(
    row, weights.map { $0.bytes.map { Double($0) / Double(row.size) } },
    isSumRight: weights.allSatisfy { $0.count == row.size })
}

private func weight<Kept: Shelf>(
  _: Kept.Type, _ ground: Ground<Kept.Plain>
) -> (bytes: Int?, count: Int) {
  let stocked = Stocked<Kept>(ground, Visits(ofThreads: []))
  let before = heapUse()
  stocked.fill()
  let after = heapUse()
  return (before.flatMap { before in after.map { $0 - before } }, stocked.count())
}

extension MemoryRow {
  fileprivate func visits<Key>(_ ground: Ground<Key>, _ effort: MemoryEffort) -> Visits {
    let strangers = ground.size..<ground.keys.count
    return switch operation {
    case .hit: .disorderly(0..<ground.size, threads: threads)
    case .miss: .disorderly(strangers.prefix(ground.size), threads: threads)
    case .insert: .shared(strangers, threads: threads)
    case .mixed: .mixed(size: ground.size, count: effort.visits, threads: threads)
    case .bytes: Visits(ofThreads: [])
    }
  }

  /// Ours, the dictionary's and NSCache's.
  fileprivate func works<Key>(_ ground: Ground<Key>, _ visits: Visits) -> [Work] {
    let ours = work(OwnShelf.self, ground, visits)
    let theirs = work(NSCacheShelf.self, ground, visits)
    return operation == .insert
      ? [ours, work(RingShelf.self, ground, visits), theirs]
      : [ours, work(DictionaryShelf.self, ground, visits), theirs]
  }

  private func work<Kept: Shelf>(
    _: Kept.Type, _ ground: Ground<Kept.Plain>, _ visits: Visits
  ) -> Work {
    let stocked = Stocked<Kept>(ground, visits)
    return switch operation {
    case .hit, .miss, .bytes: stocked.lookUps(name, areFound: operation == .hit)
    case .insert: stocked.inserts(name)
    case .mixed: stocked.mixed(name)
    }
  }
}

/// Measures rows that share their keys, and reports each as soon as it is known.
func measure<Key: BenchKey>(
  _ rows: [MemoryRow], _ dataset: MemoryDataset<Key>, _ effort: MemoryEffort,
  _ report: (MemoryMeasurement) -> Void
) {
  for row in rows {
    report(row.operation == .bytes ? weigh(row, dataset) : time(row, dataset, effort))
  }
}

/// Times ours and the two it is compared with by turns.
private func time<Key: BenchKey>(
  _ row: MemoryRow, _ dataset: MemoryDataset<Key>, _ effort: MemoryEffort
) -> MemoryMeasurement {
  let visits = row.visits(dataset, effort)
  let length = max(1, visits.count)
  let operations = max(1, effort.visits * row.threads / length) * length
  var timings = row.works(dataset, visits).map {
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
private func weigh<Key: BenchKey>(_ row: MemoryRow, _ dataset: MemoryDataset<Key>)
  -> MemoryMeasurement
{
  let weights = [
    weight(MillpondMemory<Key>.self, dataset), weight(DictionaryContender<Key>.self, dataset),
    weight(NSCacheContender<Key>.self, dataset),
  ]
  return MemoryMeasurement(
    row, weights.map { $0.bytes.map { Double($0) / Double(row.size) } },
    isSumRight: weights.allSatisfy { $0.count == row.size })
}

private func weight<Kept: MemoryContender>(
  _: Kept.Type, _ dataset: MemoryDataset<Kept.Plain>
) -> (bytes: Int?, count: Int) {
  let filled = FilledMemory<Kept>(dataset, Visits(ofThreads: []))
  let before = heapUse()
  filled.fill()
  let after = heapUse()
  return (before.flatMap { before in after.map { $0 - before } }, filled.count())
}

extension MemoryRow {
  fileprivate func visits<Key>(_ dataset: MemoryDataset<Key>, _ effort: MemoryEffort) -> Visits {
    let strangers = dataset.size..<dataset.keys.count
    return switch operation {
    case .hit: .disorderly(0..<dataset.size, threads: threads)
    case .miss: .disorderly(strangers.prefix(dataset.size), threads: threads)
    case .insert: .shared(strangers, threads: threads)
    case .mixed: .mixed(size: dataset.size, count: effort.visits, threads: threads)
    case .bytes: Visits(ofThreads: [])
    }
  }

  /// Ours, the dictionary's and NSCache's.
  fileprivate func works<Key>(_ dataset: MemoryDataset<Key>, _ visits: Visits) -> [Work] {
    let ours = work(MillpondMemory.self, dataset, visits)
    let theirs = work(NSCacheContender.self, dataset, visits)
    return operation == .insert
      ? [ours, work(RingContender.self, dataset, visits), theirs]
      : [ours, work(DictionaryContender.self, dataset, visits), theirs]
  }

  private func work<Kept: MemoryContender>(
    _: Kept.Type, _ dataset: MemoryDataset<Kept.Plain>, _ visits: Visits
  ) -> Work {
    let filled = FilledMemory<Kept>(dataset, visits)
    return switch operation {
    case .hit, .miss, .bytes: filled.lookUps(name, areFound: operation == .hit)
    case .insert: filled.inserts(name)
    case .mixed: filled.mixed(name)
    }
  }
}

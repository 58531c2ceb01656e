import Foundation

/// Measures rows that share their goods, and reports each as soon as it is known.
func measure(
  _ rows: [DiskRow], _ goods: Goods, _ effort: DiskEffort, at site: Site,
  _ tell: (DiskMeasurement) -> Void
) throws {
  for row in rows {
    switch row.subject {
    case .operation(let operation, _): tell(time(row, operation, goods, effort, at: site))
    case .weight(.heap, _): tell(try weighHeap(row, goods, at: site))
    case .weight(let weight, _): tell(try weighFiles(row, weight, goods, effort, at: site))
    case .opening, .overwriting: break
    }
  }
}

/// Times ours and the compared shelves by turns.
private func time(
  _ row: DiskRow, _ operation: DiskRow.Operation, _ goods: Goods, _ effort: DiskEffort,
  at site: Site
) -> DiskMeasurement {
  let few = goods.firstFew(effort.fileLimit)
  let tasks: [DiskTask?] = [
    StockedDisk<OwnDiskShelf>(goods, at: site).task(operation),
    operation == .put || operation == .get
      ? StockedDisk<OneFileShelf>(goods, at: site).task(operation) : nil,
    StockedDisk<FileEachShelf>(few, at: site).task(operation),
    StockedDisk<FoundationShelf>(few, at: site).task(operation),
  ]
  var timings = tasks.map { task in task.map { Timing($0.timed, $0.count) } }
  for _ in 0..<effort.repetitions {
    for index in timings.indices { timings[index]?.repeatOnce() }
  }
  for task in tasks { task?.end() }
  return DiskMeasurement(
    row, timings.map { $0.map { $0.figure(.best) / 1_000 } }, isInMemory: site.isInMemory,
    isSumRight: timings.allSatisfy { $0?.isSumRight ?? true })
}

/// Weighs the files of each shelf after it has closed them.
private func weighFiles(
  _ row: DiskRow, _ weight: DiskRow.Weight, _ goods: Goods, _ effort: DiskEffort, at site: Site
) throws -> DiskMeasurement {
  let few = goods.firstFew(effort.fileLimit)
  let weights = [
    try fileWeight(OwnDiskShelf.self, weight, goods, at: site),
    try fileWeight(OneFileShelf.self, weight, goods, at: site),
    try fileWeight(FileEachShelf.self, weight, few, at: site),
    try fileWeight(FoundationShelf.self, weight, few, at: site),
  ]
  return DiskMeasurement(
    row, weights.map { $0.bytes }, isInMemory: site.isInMemory,
    isSumRight: weights.allSatisfy { $0.isSumRight })
}

private func fileWeight<Kept: DiskShelf>(
  _: Kept.Type, _ weight: DiskRow.Weight, _ goods: Goods, at site: Site
) throws -> (bytes: Double, isSumRight: Bool) {
  let folder = site.path(of: "\(Kept.self)")
  let kept = Kept(folder: folder)
  try kept.renew()
  try kept.put(goods)
  let isSumRight = try kept.get(goods) == goods.sum
  try kept.close()
  defer { sound { try FileManager.default.removeFolder(folder) } }
  let bytes = try FileManager.default.subpathsOfDirectory(atPath: folder).reduce(0) { sum, name in
    let found = try SystemFile.weight(of: folder + "/" + name)
    return sum + (weight == .allocated ? found.allocated : found.length)
  }
  return (Double(bytes) / Double(goods.keys.count), isSumRight)
}

/// Weighs the memory of our own shelf once everything is written.
private func weighHeap(_ row: DiskRow, _ goods: Goods, at site: Site) throws -> DiskMeasurement {
  let folder = site.path(of: "heap")
  let before = heapUse()
  let own = OwnDiskShelf(folder: folder)
  try own.renew()
  try own.put(goods)
  let after = heapUse()
  let isSumRight = try own.get(goods) == goods.sum
  try own.close()
  try FileManager.default.removeFolder(folder)
  let bytes = before.flatMap { before in after.map { Double($0 - before) } }
  return DiskMeasurement(
    row, [bytes.map { $0 / Double(goods.keys.count) }, nil, nil, nil], isInMemory: site.isInMemory,
    isSumRight: isSumRight)
}

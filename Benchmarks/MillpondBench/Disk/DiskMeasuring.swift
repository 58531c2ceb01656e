import Foundation

/// Measures rows that share a data set, and reports each as soon as it is known.
func measure(
  _ rows: [DiskRow], _ dataset: DiskDataset, _ effort: DiskEffort, at workFolder: WorkFolder,
  _ report: (DiskMeasurement) -> Void
) throws {
  for row in rows {
    switch row.subject {
    case .operation(let operation, _): report(time(row, operation, dataset, effort, at: workFolder))
    case .weight(.heap, _): report(try weighHeap(row, dataset, at: workFolder))
    case .weight(let weight, _):
      report(try weighFiles(row, weight, dataset, effort, at: workFolder))
    case .opening, .overwriting: break
    }
  }
}

/// Times ours and the compared contenders by turns.
private func time(
  _ row: DiskRow, _ operation: DiskRow.Operation, _ dataset: DiskDataset, _ effort: DiskEffort,
  at workFolder: WorkFolder
) -> DiskMeasurement {
  let few = dataset.firstFew(effort.fileLimit)
  let tasks: [DiskTask?] = [
    FilledDisk<MillpondDisk>(dataset, at: workFolder).task(operation),
    operation == .put || operation == .get
      ? FilledDisk<SingleFile>(dataset, at: workFolder).task(operation) : nil,
    FilledDisk<FilePerValue>(few, at: workFolder).task(operation),
    FilledDisk<FoundationFilePerValue>(few, at: workFolder).task(operation),
  ]
  var timings = tasks.map { task in task.map { Timing($0.timed, $0.count) } }
  for _ in 0..<effort.repetitions {
    for index in timings.indices { timings[index]?.repeatOnce() }
  }
  for task in tasks { task?.end() }
  return DiskMeasurement(
    row, timings.map { $0.map { $0.figure(.best) / 1_000 } }, isInMemory: workFolder.isInMemory,
    isSumRight: timings.allSatisfy { $0?.isSumRight ?? true })
}

/// Weighs the files of each contender after it has closed them.
private func weighFiles(
  _ row: DiskRow, _ weight: DiskRow.Weight, _ dataset: DiskDataset, _ effort: DiskEffort,
  at workFolder: WorkFolder
) throws -> DiskMeasurement {
  let few = dataset.firstFew(effort.fileLimit)
  let weights = [
    try fileWeight(MillpondDisk.self, weight, dataset, at: workFolder),
    try fileWeight(SingleFile.self, weight, dataset, at: workFolder),
    try fileWeight(FilePerValue.self, weight, few, at: workFolder),
    try fileWeight(FoundationFilePerValue.self, weight, few, at: workFolder),
  ]
  return DiskMeasurement(
    row, weights.map { $0.bytes }, isInMemory: workFolder.isInMemory,
    isSumRight: weights.allSatisfy { $0.isSumRight })
}

private func fileWeight<Kept: DiskContender>(
  _: Kept.Type, _ weight: DiskRow.Weight, _ dataset: DiskDataset, at workFolder: WorkFolder
) throws -> (bytes: Double, isSumRight: Bool) {
  let folder = workFolder.path(of: "\(Kept.self)")
  let kept = Kept(folder: folder)
  try kept.renew()
  try kept.put(dataset)
  let isSumRight = try kept.get(dataset) == dataset.sum
  try kept.close()
  defer { sound { try FileManager.default.removeFolder(folder) } }
  let bytes = try FileManager.default.subpathsOfDirectory(atPath: folder).reduce(0) { sum, name in
    let found = try SystemFile.weight(of: folder + "/" + name)
    return sum + (weight == .allocated ? found.allocated : found.length)
  }
  return (Double(bytes) / Double(dataset.keys.count), isSumRight)
}

/// Weighs the memory of our own cache once everything is written.
private func weighHeap(_ row: DiskRow, _ dataset: DiskDataset, at workFolder: WorkFolder) throws
  -> DiskMeasurement
{
  let folder = workFolder.path(of: "heap")
  let before = heapUse()
  let own = MillpondDisk(folder: folder)
  try own.renew()
  try own.put(dataset)
  let after = heapUse()
  let isSumRight = try own.get(dataset) == dataset.sum
  try own.close()
  try FileManager.default.removeFolder(folder)
  let bytes = before.flatMap { before in after.map { Double($0 - before) } }
  return DiskMeasurement(
    row, [bytes.map { $0 / Double(dataset.keys.count) }, nil, nil, nil],
    isInMemory: workFolder.isInMemory,
    isSumRight: isSumRight)
}

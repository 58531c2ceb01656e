import Foundation

/// Does what the arguments say, and returns the exit code.
///
/// `main.swift` only calls it, because nothing is specialised there.
func bench(_ arguments: some Sequence<String>) -> Int32 {
  do {
    let options = try Options(arguments)
    let groups = try Group.named(options.names)
    if options.has("--help") || options.has("-h") {
      print(Options.help)
    } else if options.has("--list") {
      let rows = groups.flatMap(\.rows)
      let width = rows.map(\.name.count).max() ?? 0
      for row in rows { print(row.name.padded(to: width + 2) + row.summary) }
    } else {
      return try measure(groups, options)
    }
    return 0
  } catch {
    FileHandle.standardError.write(Data("millpond-bench: \(error)\n".utf8))
    return 2
  }
}

private func measure(_ groups: [Group], _ options: Options) throws -> Int32 {
  let page = try options["--out"].map { try OutputFile($0) }
  let folder = try WorkFolder(
    in: options["--folder"] ?? FileManager.default.temporaryDirectory.path)
  defer { folder.clear() }
  keepCompany()
  let run = Run(isQuick: options.has("--quick"), folder: folder, traces: options["--traces"])
  if let page { return try report(groups, run, to: page) }
  return try printSamples(groups.flatMap(\.rows), run, asJSON: options.has("--json"))
}

private func printSamples(_ rows: [Row], _ run: Run, asJSON: Bool) throws -> Int32 {
  let table = Table(for: rows)
  if !asJSON { print(Table.legend, table.header, separator: "\n\n") }
  var samples: [Sample] = []
  for row in rows {
    row.samples(run) { sample in
      samples.append(sample)
      if !asJSON { print(table.line(sample)) }
      // At once, also into a file: some rows take a while.
      fflush(nil)
    }
  }
  if asJSON { print(try json(samples)) }
  return samples.allSatisfy(\.isSumRight) ? 0 : 1
}

/// Starts a second thread, which sleeps.
///
/// In a process with a single thread, glibc skips its locking.
private func keepCompany() {
  Thread.detachNewThread {
    while true { Thread.sleep(forTimeInterval: 3_600) }
  }
}

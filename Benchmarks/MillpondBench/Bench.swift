import Foundation

/// Does what the arguments say, and returns the exit code.
///
/// `main.swift` only calls it, because nothing is specialised there.
func bench(_ arguments: some Sequence<String>) -> Int32 {
  do {
    let options = try Options(arguments)
    let groups = try Group.named(options.names)
    if options.has("--help") {
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

/// Measures groups one after the other: prints each sample at once, and writes the page after each
/// group, so that an hour's work is not lost with the last one.
private func measure(_ groups: [Group], _ options: Options) throws -> Int32 {
  var page = ReportPage(isQuick: options.has("--quick"))
  if let file = options["--out"] { try page.write(to: file) }
  let folder = try WorkFolder(
    in: options["--folder"] ?? FileManager.default.temporaryDirectory.path)
  defer { folder.clear() }
  keepCompany()
  let run = Run(isQuick: page.isQuick, folder: folder, traces: options["--traces"])
  let isTable = !options.has("--json")
  if isTable { print(Table.legend, Table.line(Table.titles), separator: "\n\n") }
  for var group in groups {
    for row in group.rows {
      row.samples(run) { sample in
        group.samples.append(sample)
        if isTable { print(Table.line(sample.cells)) }
        // At once, also into a file: some rows take a while.
        fflush(nil)
      }
    }
    page.groups.append(group)
    if let file = options["--out"] { try page.write(to: file) }
  }
  if !isTable { print(try json(page.samples)) }
  return page.samples.allSatisfy(\.isSumRight) ? 0 : 1
}

/// Starts a second thread, which sleeps.
///
/// In a process with a single thread, glibc skips its locking.
private func keepCompany() {
  Thread.detachNewThread {
    while true { Thread.sleep(forTimeInterval: 3_600) }
  }
}

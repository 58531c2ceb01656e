import Foundation

/// Runs the families that the arguments after `report` name, writes their page, and returns the
/// exit code.
func reportBench(_ arguments: some Sequence<String>) throws -> Int32 {
  let options = try Options(
    arguments, flags: ["--quick", "--list"], valued: ["--out": "a file"])
  let families = try ReportFamily.all.named(options.names)
  if options.wantsHelp {
    print(ReportFamily.help)
  } else if options.wantsList {
    printList(families.map { ($0.name, $0.summary) })
  } else if let file = options["--out"] {
    return try run(families, isQuick: options.isQuick, OutputFile(file))
  } else {
    throw OptionsError.valueMissing("report", "--out FILE")
  }
  return 0
}

/// Runs the families, writes their page, and returns the exit code.
func run(_ families: [ReportFamily], isQuick: Bool, _ file: OutputFile) throws -> Int32 {
  keepCompany()
  var page = ReportPage(machine: .current(), isQuick: isQuick, began: Date())
  for family in families {
    let start = ContinuousClock.now
    page.sections.append(section(family, isQuick: isQuick))
    // After each family, so that an hour's work is not lost with the last one.
    try file.write(page.html)
    let seconds = Int((ContinuousClock.now - start).seconds)
    print("\(family.name): \(page.sections.last?.outcome ?? "") (\(seconds) s)")
    fflush(nil)
  }
  return page.sections.allSatisfy(\.isRight) ? 0 : 1
}

private func section(_ family: ReportFamily, isQuick: Bool) -> ReportSection {
  let progress = Progress()
  defer { progress.clear() }
  progress.show(family.name)
  do {
    return ReportSection(
      family,
      try family.measure(isQuick) { row, count in
        progress.show("\(family.name): \(count) rows, \(row)")
      })
  } catch {
    return ReportSection(family, FamilyResult(failure: "\(error)"))
  }
}

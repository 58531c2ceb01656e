import Foundation

/// The program, which by default shows pictures through memory, disk and HTTP.
@main
enum Demo {
  static func main() async {
    do {
      let options = try Options(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp { return print(Options.help, terminator: "") }
      let folder =
        options.folder.map { URL(filePath: $0, directoryHint: .isDirectory) }
        ?? FileManager.default.temporaryDirectory
        .appending(path: "millpond-demo-\(UUID().uuidString)", directoryHint: .isDirectory)
      let isShown = try await run(options, folder, Screen.standardOutput())
      if options.folder == nil { try? FileManager.default.removeItem(at: folder) }
      exit(isShown ? 0 : 1)
    } catch {
      FileHandle.standardError.write(Data("millpond-demo: \(error)\n".utf8))
      exit(error is OptionsError ? 2 : 1)
    }
  }

  /// - Returns: Whether everything was shown as intended.
  private static func run(
    _ options: Options, _ folder: URL, _ screen: Screen
  ) async throws -> Bool {
    switch options.show {
    case .thread: try await ThreadShow(options, folder, screen).run()
    case .feed: try await FeedShow(folder: folder, screen).run()
    case .offline: try await OfflineShow(folder: folder, screen).run()
    case .serve: try await ServeShow(folder: folder, screen).run()
    case .shared: try await SharedShow(screen).run()
    case .signals: try await SignalShow(screen).run()
    }
  }
}

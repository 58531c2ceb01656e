import Foundation
import LoopbackServer
import Millpond

/// The program, which by default shows pictures through memory, disk and HTTP.
@main
enum Demo {
  static func main() async {
    do {
      let options = try Options(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp {
        Terminal.write(Options.help)
      } else if let show = options.otherShow {
        exit(try await run(show) ? 0 : 1)
      } else {
        exit(try await run(options) == 0 ? 0 : 1)
      }
    } catch let error as OptionsError {
      Terminal.complain("\(error)\n")
      exit(OptionsError.exitCode)
    } catch {
      Terminal.complain("millpond-demo: \(error)\n")
      exit(1)
    }
  }

  /// - Returns: Whether everything was shown as intended.
  private static func run(_ show: OtherShow) async throws -> Bool {
    switch show {
    case .shared: return try await SharedShow(Screen.standardOutput()).run()
    case .signals: return try await SignalShow(Screen.standardOutput()).run()
    case .offline:
      let folder = Self.newFolder()
      defer { try? FileManager.default.removeItem(at: folder) }
      return try await OfflineShow(folder: folder, Screen.standardOutput()).run()
    case .feed:
      let folder = Self.newFolder()
      defer { try? FileManager.default.removeItem(at: folder) }
      return try await FeedExample(folder: folder, Screen.standardOutput()).run()
    case .serve:
      let folder = Self.newFolder()
      defer { try? FileManager.default.removeItem(at: folder) }
      return try await ServeExample(folder: folder, Screen.standardOutput()).run()
    }
  }

  private static func newFolder() -> URL {
    FileManager.default.temporaryDirectory
      .appendingPathComponent("millpond-demo-\(UUID().uuidString)", isDirectory: true)
  }

  /// - Returns: The number of pictures that could not be loaded.
  private static func run(_ options: Options) async throws -> Int {
    let folder =
      options.cacheDirectory.map { URL(fileURLWithPath: $0, isDirectory: true) }
      ?? Self.newFolder()
    defer {
      if options.cacheDirectory == nil { try? FileManager.default.removeItem(at: folder) }
    }
    let currentBoard = CurrentBoard()
    if !options.urls.isEmpty {
      return await URLShow(folder: folder, currentBoard: currentBoard).run(options.urls)
    }
    return try await showThread(options, folder, currentBoard)
  }

  private static func showThread(
    _ options: Options, _ folder: URL, _ currentBoard: CurrentBoard
  ) async throws -> Int {
    let gallery =
      try options.servedDirectory.map { try Gallery.files(in: URL(fileURLWithPath: $0)) }
      ?? Gallery.madeUp()
    let comments = Comments(count: options.commentCount, authors: gallery.authors)
    // The origin's port differs in each run, so only the path names the picture on disk.
    let layers = PictureLayers(folder: folder, diskKey: \.path)
    let interruption = Interruption(leaving: layers, currentBoard)
    defer { withExtendedLifetime(interruption) {} }
    let picture = LockedState(TerminalPicture())
    let screen =
      options.pictureFile == nil
      ? Screen.standardOutput() : .drawn { output in picture.withLock { $0.write(output) } }
    await layers.reportTrouble(on: screen)
    let inspection = options.inspects ? try Inspection(of: layers, screen) : nil

    if let base = SecondProcess.originOfFirst {
      let show = ThreadShow(
        layers: layers, gallery: gallery, comments: comments, base: base, screen: screen)
      let failures = await show.runAgain(keeping: currentBoard)
      screen.write(lines: show.table.withLock { $0.lines(screen) })
      return failures
    }

    let origin = try gallery.origin()
    defer { origin.stop() }
    let show = ThreadShow(
      layers: layers, gallery: gallery, comments: comments, base: origin.baseURL, screen: screen)
    let failures = await show.run(on: origin, keeping: currentBoard)
    await inspection?.stay(gallery.authors.map(show.url))
    screen.write(lines: show.table.withLock { $0.lines(screen) } + [""])
    _ = try? await layers.disk.close()
    if let file = options.pictureFile {
      let drawing = picture.withLock { $0.svg(title: "millpond-demo", columns: 90) }
      try Data(drawing.utf8).write(to: URL(fileURLWithPath: file))
      return failures
    }
    let again = try await SecondProcess.run(
      arguments: options.threadArguments, cache: folder, origin: origin.baseURL)
    return failures + (again ? 0 : 1)
  }
}

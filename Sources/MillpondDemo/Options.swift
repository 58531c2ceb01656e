import Foundation

/// A show without pictures.
enum OtherShow: String {
  case feed, offline, serve, shared, signals
}

/// The user's choices on the command line.
struct Options: Equatable {
  /// The folder for pictures on disk; nil leaves the choice to the program.
  var cacheDirectory: String?
  /// The folder whose files the origin serves, in place of generated pictures.
  var servedDirectory: String?
  var commentCount = 120
  /// The URLs to fetch in place of a comment thread's pictures; empty for the thread.
  var urls: [URL] = []
  /// The file for a drawing of the screen; nil for none.
  var pictureFile: String?
  /// The show in place of pictures.
  var otherShow: OtherShow?
  /// Whether the caches can be looked into with a browser.
  var inspects = false
  var wantsHelp = false

  /// Reads arguments, without the program's name.
  ///
  /// - Throws: ``OptionsError`` for invalid arguments.
  init(_ arguments: [String]) throws(OptionsError) {
    var reader = ArgumentReader(arguments)
    var forThreadsOnly: String?
    while let argument = try reader.next() {
      switch argument {
      case .plain(let text) where OtherShow(rawValue: text) != nil:
        otherShow = OtherShow(rawValue: text)
      case .plain(let text): urls.append(try Self.url(text))
      case .option("--help"), .option("-h"): wantsHelp = true
      case .option("--cache"): cacheDirectory = try reader.value("a folder")
      case .option("--serve"):
        servedDirectory = try reader.value("a folder")
        forThreadsOnly = "--serve"
      case .option("--comments"):
        commentCount = try Self.commentCount(try reader.value("a number"))
        forThreadsOnly = "--comments"
      case .option("--inspect"):
        inspects = true
        forThreadsOnly = "--inspect"
      case .option("--picture"):
        pictureFile = try reader.value("a file")
        forThreadsOnly = "--picture"
      case .option(let name): throw .unknown(option: name)
      }
    }
    if let otherShow, forThreadsOnly != nil || cacheDirectory != nil || !urls.isEmpty {
      throw .notAlone(otherShow.rawValue)
    }
    if let forThreadsOnly, !urls.isEmpty { throw .meaninglessWithURLs(option: forThreadsOnly) }
  }

  private static let commentCounts = 1...10_000

  private static func commentCount(_ text: String) throws(OptionsError) -> Int {
    guard let count = Int(text), commentCounts.contains(count) else {
      throw .outOfRange(option: "--comments", value: text, commentCounts)
    }
    return count
  }

  private static func url(_ text: String) throws(OptionsError) -> URL {
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
      url.host?.isEmpty == false
    else { throw .notURL(text) }
    return url
  }

  /// The arguments for another process to show the same thread.
  var threadArguments: [String] {
    ["--comments", "\(commentCount)"] + (servedDirectory.map { ["--serve", $0] } ?? [])
  }
}

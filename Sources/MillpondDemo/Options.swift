/// The user's choices on the command line.
struct Options: Equatable {
  /// The shows of the demo.
  enum Show: String, CaseIterable {
    case thread, offline, signals, feed, serve, shared
  }

  var show = Show.thread

  /// The folder for pictures on disk; nil for a temporary one.
  var folder: String?

  /// The number of comments in the thread.
  var commentCount = 120

  /// Whether the caches can be looked into with a browser.
  var inspects = false
  var wantsHelp = false

  /// Reads arguments, without the program's name.
  ///
  /// - Throws: ``OptionsError`` for what has no meaning.
  init(_ arguments: [String]) throws(OptionsError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h": wantsHelp = true
      case "--inspect": inspects = true
      case "--cache":
        guard let value = rest.popFirst(), !value.isEmpty, !value.hasPrefix("-") else {
          throw OptionsError(description: "--cache needs a folder after it")
        }
        folder = value
      case "--comments":
        guard let count = rest.popFirst().flatMap({ Int($0) }), (1...10_000).contains(count) else {
          throw OptionsError(description: "--comments needs a number from 1 to 10000 after it")
        }
        commentCount = count
      default:
        guard show == .thread, let other = Show(rawValue: argument) else {
          throw OptionsError(description: "\(argument) has no meaning here; see --help")
        }
        show = other
      }
    }
    let isPlain = folder == nil && commentCount == 120 && !inspects
    if show != .thread, !isPlain {
      throw OptionsError(description: "\(show.rawValue) takes no options")
    }
  }

  /// The text that `--help` prints.
  static let help = """
    Usage: millpond-demo [--cache DIR] [--comments N] [--inspect]
           millpond-demo offline | signals | feed | serve | shared

    Loads the pictures of a comment thread through three layers: memory, then disk,
    then HTTP. Nothing is needed but this program: it starts an origin of its own on
    127.0.0.1, with a slow line, and shows live which layer answered each picture.

    Many comments have few authors, and each author costs one request, however many
    comments wait for the picture. When the last row that waits for a picture scrolls
    away, its download stops; while another row waits, the download continues. A second
    pass is answered from memory, and a second process from disk. A table of times
    comes last.

      offline  an app that starts without a network: the stored value, its age and the
               error, and the recovery
      signals  a cache whose entries are signals: an assigned download, a polled value,
               a removal
      feed     an example to copy: a list with pictures, its start without a network,
               and a pull to refresh
      serve    another one: a small HTTP service before a slow upstream, with limits
               and statistics, until Ctrl-C or SIGTERM ends it in order
      shared   two processes that stay in step: each has memory over one Redis or
               Valkey server, which is started if one is installed

      --cache DIR    keeps the pictures in the folder DIR: with the same folder, the
                     next run is answered from disk
      --comments N   makes a thread of N comments, from 1 to 10000, instead of 120
      --inspect      serves a page on 127.0.0.1 that shows the inside of the caches,
                     and keeps them busy until you press Enter
      --help, -h     this text

    Progress is drawn as bars in a terminal and written as plain lines elsewhere. If
    the environment variable NO_COLOR is set, there are no colours. Ctrl-C ends the
    program at any time and leaves the cache intact. The exit code is 0 if everything
    succeeded, 1 if something could not be loaded, 2 for bad arguments, and 130 after
    Ctrl-C.

    """
}

/// A mistake in a command line.
struct OptionsError: Error, CustomStringConvertible {
  let description: String
}

extension Options {
  /// The text that `--help` prints.
  static let help = """
    Usage: millpond-demo [--cache DIR] [--serve DIR] [--comments N] [--inspect]
                         [--picture FILE]
           millpond-demo [--cache DIR] URL...
           millpond-demo offline
           millpond-demo signals
           millpond-demo feed
           millpond-demo serve
           millpond-demo shared

    Loads the pictures of a comment thread through three layers: memory, then disk,
    then HTTP. Nothing is needed but this program: it starts an origin of its own on
    127.0.0.1, with a slow line, and shows live which layer answered each picture.

    Many comments have few authors, and each author costs one request, however many
    comments wait for the picture. When the last row that waits for a picture scrolls
    away, its download stops; while another row waits, the download continues. A second
    pass is answered from memory, and a second process from disk. A table of times
    comes last.

    With URLs, it fetches those in the same way, from their own origins.

    With offline, it shows an app that starts without a network: the stored value, its
    age and the error, and the recovery.

    With signals, it shows a cache whose entries are signals: an assigned download, a
    polled value, a removal.

    With shared, it shows two processes that stay in step: each has memory over one
    Redis or Valkey server, which it starts itself if one is installed.

    With feed, it runs an example to copy: a list with pictures, its start without a
    network, and a pull to refresh.

    With serve, it runs another one: a small HTTP service before a slow upstream, with
    limits and statistics, until Ctrl-C or SIGTERM ends it in order.

    Options:
      --cache DIR    Keeps the pictures in the folder DIR, and leaves them there:
                     with the same folder, the next run is answered from disk.
                     The folder is made if it does not exist. Without this option
                     a temporary folder is used.
      --serve DIR    Serves the picture files of the folder DIR, one for each author,
                     instead of generated pictures.
      --comments N   Makes a thread of N comments, from 1 to 10000. Without this
                     option there are 120.
      --inspect      Serves a page on 127.0.0.1 that shows the inside of the caches:
                     prints its address, opens it where it can, and keeps the
                     caches busy until you press Enter.
      --picture FILE Draws the screen, as it is at the end, into the file FILE,
                     as SVG.
      --help, -h     Prints this text and ends.

    Progress is drawn as bars in a terminal and written as plain lines elsewhere. If
    the environment variable NO_COLOR is set, there are no colours. Ctrl-C ends the
    program at any time and leaves the cache intact. The exit code is 0 if everything
    succeeded, 1 if something could not be loaded, 2 if the command line is invalid,
    and 130 after Ctrl-C.

    Examples:
      millpond-demo
          Shows everything once, with generated pictures.
      millpond-demo --cache /tmp/pond --comments 500
          A longer thread. Run it twice: the second run is answered from disk.
      millpond-demo --serve ~/Pictures/Faces
          Uses your own pictures as avatars.
      millpond-demo https://example.org/one.png https://example.org/two.png
          Fetches two real pictures.
      millpond-demo --inspect
          Looks into the caches with a browser.
      millpond-demo offline
          Starts without a network, with yesterday's news.
      millpond-demo feed
          Shows a list with pictures that starts offline.
      millpond-demo serve
          Serves articles on a port of 127.0.0.1, for a browser or another program.
      millpond-demo signals
          Shows cache[key] = signal.
      millpond-demo shared
          Shows two processes over one server.

    """
}

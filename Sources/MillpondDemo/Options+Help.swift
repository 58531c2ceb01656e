extension Options {
  /// The text that `--help` prints.
  static let help = """
    Usage: millpond-demo [--cache DIR] [--serve DIR] [--comments N]
           millpond-demo [--cache DIR] URL...
           millpond-demo offline
           millpond-demo entities

    Loads the pictures of a comment thread through three layers: memory, then disk,
    then HTTP. Nothing is needed but this program: it starts an origin of its own on
    127.0.0.1, with a slow line, and shows live which layer answered each picture.

    Many comments have few authors, and each author costs one request, however many
    comments wait for the picture. When the last row that waits for one scrolls away,
    its download stops; while somebody else waits, it goes on. A second pass is
    answered from memory, and a second process from disk. A table of times ends it.

    With URLs, those are fetched in the same way instead, from where they are.

    With offline, it shows a start-up without a network instead: what was kept, how old
    that is and what is wrong, and how it recovers.

    With entities, it shows a store instead, that is written to from several sides, and
    a screen that stays in step with it by one subscription.

    Options:
      --cache DIR    Keeps the pictures in the folder DIR, and leaves them there:
                     with the same folder, the next run is answered from disk.
                     The folder is made if it does not exist. Without this option
                     a temporary folder is used.
      --serve DIR    Lets the origin give out the picture files of the folder DIR,
                     one for each author, instead of pictures made on the spot.
      --comments N   Makes a thread of N comments, from 1 to 10000. Without this
                     option there are 120.
      --help, -h     Prints this text and ends.

    Progress is drawn as bars in a terminal and written as plain lines elsewhere. If
    the environment variable NO_COLOR is set, there are no colours. Ctrl-C ends the
    program at any time and leaves a sound cache behind. The exit code is 0 when all
    went well, 1 when something could not be loaded, 2 when the command line was
    not understood, and 130 after Ctrl-C.

    Examples:
      millpond-demo
          Shows everything once, with pictures made on the spot.
      millpond-demo --cache /tmp/pond --comments 500
          A longer thread. Run it twice: the second time the disk answers.
      millpond-demo --serve ~/Pictures/Faces
          Uses your own pictures as avatars.
      millpond-demo https://example.org/one.png https://example.org/two.png
          Fetches two real pictures.
      millpond-demo offline
          Reads yesterday's news.
      millpond-demo entities
          Sells books, and marries one of their authors.

    """
}

public import MillpondCore
public import MillpondSignals

/// A cache of large files, such as films, recordings and pictures, each fetched once for all
/// callers and stored complete on disk.
///
///     let films = MediaCache(disk, over: HTTPSource(), limitedTo: 4, name: \.absoluteString)
///     let film = try await films.get(url).value
///     player.play(film.url)
///
/// A value is a ``DiskFile``, which is not evicted while it is held. Bytes go from the network to
/// the disk as they arrive. A faster network waits for the disk, with a few megabytes in memory
/// between them; on Linux, whose `URLSession` can't wait, large files are requested in ranges for
/// that reason. A get joins the transfer of its file that is under way, at any point, and receives
/// its progress; when the last caller leaves, the transfer ends. A prefetch is a get at low
/// priority that others may join.
///
/// If `network` is made with ``PartialTransfers``, an interrupted or cancelled transfer resumes at
/// the next get of its file. Nothing is kept of files that `disk` seals.
///
/// A file is good for the time to live of `disk`. `Cache-Control` of its origin, also `no-store`, counts
/// only if the transport of `network` is an ``HTTPCache``, as for every cache over an ``HTTPSource``.
///
/// The URL of a file ends in the name extension that players expect: that of its name, the original
/// URL, or, if that is none of media, the one for the file's first bytes. On a volume without hard
/// links it has none.
///
/// A film may be as large as `disk` allows: ``HTTPLimits/byteLimit`` and
/// ``HTTPLimits/totalTimeout`` are for bodies in memory, and ``HTTPLimits/streamByteLimit`` and
/// ``HTTPLimits/streamTimeout`` for files.
///
/// A caller whose get began before its file was set or removed, or for whose file there is no room,
/// still gets the file; it is not stored, and is removed when no caller holds it. If the process
/// dies before, the next one removes it.
///
/// - Note: Any thread.
public struct MediaCache<Key: Hashable & Sendable>: Cache, AnsweringSource {
  private typealias Layers = Layered<
    MediaFileLayer<Key>, Governed<Governed<Downloads<Key>>>
  >

  private let flights: InFlightReuse<Layers>

  /// Lets later callers start anew after everything was removed from the disk, by any cache.
  private let detaching: ScopedDisposable

  /// Creates a cache of files that `disk` stores and `network` fetches.
  ///
  /// - Parameters:
  ///   - disk: The cache that stores the files.
  ///   - network: The source of the files.
  ///   - limit: The greatest number of transfers at a time; the others wait, by priority.
  ///   - reserved: The number of these that are kept for gets more urgent than a prefetch.
  ///   - name: Returns the name under which `disk` stores the file of a key.
  public init(
    _ disk: DiskCache, over network: HTTPSource<Key>, limitedTo limit: Int, reserved: Int = 1,
    name: @escaping @Sendable (Key) -> String
  ) {
    let stored = MediaFileLayer(disk: disk, name: name)
    let downloads = Downloads(stored: stored, network: network)
    let flights =
      stored
      .layered(over: downloads.limited(to: limit, reserved: reserved).stoppable())
      .reusingInFlight()
    self.flights = flights
    // The flights retain the disk, and the disk this closure, until the last copy is released.
    detaching = disk.onRemoval { flights.detachAll() }.scoped()
  }

  /// Returns the file with its age and its validator.
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<DiskFile>> {
    flights.answers(key, lookup)
  }

  /// Stores a copy of a file, or removes one file or all from the disk; held files stay until they
  /// are released.
  ///
  /// A file is read on the calling thread to be copied. Removing all also removes the bytes in the
  /// network's ``PartialTransfers`` and those of running transfers: when the outcome succeeds, only
  /// held files contain any of them.
  public func apply(_ change: Change<Key, DiskFile>) -> Signal<Void> { flights.apply(change) }

  /// The disk over the network.
  public func topology(for key: Key?) -> Topology { flights.topology(for: key) }
}

import Foundation
public import MillpondCore
public import MillpondSignals

/// A cache of decoded pictures in memory over a cache of their files.
///
///     let thumbnails = ImageCache(media, byteLimit: .mebibytes(64), longestSide: 300)
///     let picture = try await thumbnails.get(url).value
///
/// The file of a picture is fetched once, and stored by `media`; it is decoded once for all callers
/// that wait, scaled down, and kept in memory. Caches of several sizes may share one
/// ``MediaCache``.
///
/// The size that the file states is checked before anything is allocated for pixels. A file that
/// can't be decoded is removed. If it was stored before, it is fetched once more; if it has just
/// arrived, the get fails with ``ImageError/undecodable(key:underlying:)``.
///
/// A picture that is set is kept in memory only, as long as there is room. A removal also removes
/// the file.
///
/// - Note: Any thread. Decoding runs on a queue of the system.
public struct ImageCache<Key: Hashable & Sendable, Decoder: ImageDecoder>: Cache,
  AnsweringSource
{
  private let pictures:
    InFlightReuse<Layered<MemoryCache<Key, Decoder.Image>, DecodedMedia<Key, Decoder.Image>>>

  /// Creates a cache with a decoder.
  ///
  /// - Parameters:
  ///   - media: The cache of the files.
  ///   - decoder: The decoder.
  ///   - byteLimit: The greatest size of all decoded pictures in memory, in bytes.
  ///   - countLimit: The greatest number of pictures in memory.
  ///   - longestSide: The longest side in pixels; larger pictures are scaled down.
  ///   - pixelLimit: The greatest number of pixels of a picture before it is scaled down, for which
  ///     a decoder may need four bytes each; by default 64 Mi.
  ///   - fileByteLimit: The greatest size of a file, which is read into memory to be decoded.
  ///   - policy: The pictures to keep in memory when there is no room for all. By default those that
  ///     were used last: a screen shows what it has just asked for, and an adaptive policy would
  ///     decode a picture that takes much of the room on each of its first gets.
  public init(
    _ media: MediaCache<Key>, decoder: Decoder, byteLimit: Int, countLimit: Int = .max,
    longestSide: Int = .max, pixelLimit: Int = 64 << 20, fileByteLimit: Int = .mebibytes(128),
    policy: EvictionPolicy = .leastRecentlyUsed
  ) {
    let reader = PictureReader(
      decoder: decoder, longestSide: longestSide, pixelLimit: pixelLimit,
      fileByteLimit: fileByteLimit)
    let decoded = DecodedMedia(files: media) { file, key in
      try reader.picture(in: file, String(withoutSecrets: key))
    }
    pictures = MemoryCache(costLimit: byteLimit, countLimit: countLimit, policy: policy) {
      max(1, decoder.byteCount(of: $0))
    }
    .layered(over: decoded).reusingInFlight()
  }

  /// Returns the picture with the age of its file.
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Decoder.Image>> {
    pictures.answers(key, lookup)
  }

  /// Returns the picture if it is in memory.
  public func now(_ key: Key, _ lookup: Lookup) -> Decoder.Image? { pictures.now(key, lookup) }

  /// Keeps a picture in memory, or removes one or all from memory and from the files.
  public func apply(_ change: Change<Key, Decoder.Image>) -> Signal<Void> {
    pictures.apply(change)
  }

  /// The memory over the files.
  public func topology(for key: Key?) -> Topology { pictures.topology(for: key) }
}

/// The reading of a file as a picture, within the limits of a cache.
private struct PictureReader<Decoder: ImageDecoder>: Sendable {
  let decoder: Decoder
  let longestSide: Int
  let pixelLimit: Int
  let fileByteLimit: Int

  func picture(in file: DiskFile, _ key: String) throws -> Decoder.Image {
    guard file.byteCount <= fileByteLimit else {
      throw ImageError.tooManyBytes(key: key, byteCount: file.byteCount, limit: fileByteLimit)
    }
    let data = try Data(contentsOf: file.url)
    let size = try orUndecodable(key) { try checked(decoder.size(of: data)) }
    guard size.pixelCount <= pixelLimit else {
      throw ImageError.tooManyPixels(key: key, size: size, limit: pixelLimit)
    }
    return try orUndecodable(key) {
      try decoder.decode(data, scaledTo: size.scaled(longestSide: longestSide))
    }
  }

  private func checked(_ size: ImageSize) throws -> ImageSize {
    if !size.isPositive { throw EmptyImage(size: size) }
    return size
  }

  private func orUndecodable<Result>(_ key: String, _ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch {
      throw ImageError.undecodable(key: key, underlying: error)
    }
  }
}

public import Foundation

/// A decoder of pictures for an ``ImageCache``.
///
/// `SystemImageDecoder` decodes whatever the system can, where there is ImageIO. To decode by other
/// means, for example in code on Linux, adopt this protocol.
///
/// - Note: Called on several threads at a time, none of which belongs to a user interface.
public protocol ImageDecoder<Image>: Sendable {
  /// The type of a decoded picture.
  associatedtype Image: Sendable

  /// Returns the size of a picture, from the head of its file, without decoding or allocating it.
  ///
  /// - Parameter data: The bytes of the file, possibly damaged or not those of a picture.
  /// - Throws: Any error for a file that is not a picture.
  func size(of data: Data) throws -> ImageSize

  /// Returns the decoded picture, no larger than `size`; the size of the cache's choice has the
  /// proportions of the picture and no more pixels.
  ///
  /// - Parameters:
  ///   - data: The bytes of the file, possibly damaged.
  ///   - size: The size to scale down to.
  /// - Throws: Any error for a file that is damaged or incomplete.
  func decode(_ data: Data, scaledTo size: ImageSize) throws -> Image

  /// Returns the memory that a decoded picture takes up, in bytes.
  ///
  /// - Parameter image: The picture.
  func byteCount(of image: Image) -> Int
}

/// The size of a picture in pixels.
public struct ImageSize: Sendable, Hashable {
  /// The width in pixels.
  public let width: Int

  /// The height in pixels.
  public let height: Int

  /// Creates a size.
  ///
  /// - Parameters:
  ///   - width: The width in pixels.
  ///   - height: The height in pixels.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

extension ImageSize {
  /// Whether there is a pixel.
  var isPositive: Bool { width > 0 && height > 0 }

  /// The number of pixels, or the greatest number if that is too large to be counted.
  var pixelCount: Int {
    let (count, isTooLarge) = width.multipliedReportingOverflow(by: height)
    return isTooLarge ? .max : count
  }

  /// Returns the size scaled down so that no side is longer, but at least a pixel.
  func scaled(longestSide: Int) -> ImageSize {
    let longest = max(width, height)
    if longest <= max(1, longestSide) { return self }
    let factor = Double(max(1, longestSide)) / Double(longest)
    return ImageSize(
      width: max(1, Int((Double(width) * factor).rounded())),
      height: max(1, Int((Double(height) * factor).rounded())))
  }
}

/// A failure of an ``ImageCache`` to decode a picture.
public enum ImageError: Error, Sendable {
  /// The file is not a picture that the decoder knows, or it is damaged; it was removed.
  case undecodable(key: String, underlying: any Error)

  /// The picture has more pixels than the cache decodes; nothing was allocated for them.
  case tooManyPixels(key: String, size: ImageSize, limit: Int)

  /// The file has more bytes than the cache reads into memory.
  case tooManyBytes(key: String, byteCount: Int, limit: Int)

  /// Whether the file is sound, but exceeds a limit.
  var isLimit: Bool {
    switch self {
    case .undecodable: false
    case .tooManyPixels, .tooManyBytes: true
    }
  }
}

extension ImageError: CustomStringConvertible {
  /// A single line for logs: the key, and the limit that was reached and its name.
  public var description: String {
    switch self {
    case .undecodable(let key, let underlying): "the picture \(key) can't be decoded: \(underlying)"
    case .tooManyPixels(let key, let size, let limit):
      "the picture \(key) has \(size.width) × \(size.height) pixels, more than \(limit) "
        + "(raise pixelLimit of its ImageCache)"
    case .tooManyBytes(let key, let byteCount, let limit):
      "the file of the picture \(key) has \(byteCount) bytes, more than \(limit) "
        + "(raise fileByteLimit of its ImageCache)"
    }
  }
}

/// The error of a decoder's size that is no size of a picture.
struct EmptyImage: Error, CustomStringConvertible {
  let size: ImageSize

  var description: String { "its size is \(size.width) × \(size.height)" }
}

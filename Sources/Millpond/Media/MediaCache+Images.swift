#if canImport(ImageIO)
  public import CoreGraphics
  import Foundation
  import ImageIO
  public import MillpondCore

  extension MediaCache {
    /// Returns a source of the pictures in the files, ready to be drawn.
    ///
    ///     let thumbnails = MemoryCache<URL, MediaImage>(costLimit: .mebibytes(64), cost: \.byteCount)
    ///       .layered(over: media.images(longestSide: 300))
    ///
    /// - Parameter longestSide: The longest side in pixels; larger pictures are scaled down while
    ///   they are decoded.
    /// - Throws: `CocoaError` with the code `fileReadCorruptFile` for a file that is not a picture.
    public func images(longestSide: Int) -> DecodedMedia<Key, MediaImage> {
      DecodedMedia(files: self) { try MediaImage($0.url, longestSide: longestSide) }
    }
  }

  /// A decoded picture.
  ///
  /// Sendable because a `CGImage` is immutable.
  public struct MediaImage: @unchecked Sendable {
    /// The picture.
    public let image: CGImage

    /// The size of the pixels in memory, in bytes.
    public var byteCount: Int { image.bytesPerRow * image.height }

    init(_ url: URL, longestSide: Int) throws {
      let options =
        [
          kCGImageSourceCreateThumbnailFromImageAlways: true,
          kCGImageSourceCreateThumbnailWithTransform: true,
          kCGImageSourceShouldCacheImmediately: true,
          kCGImageSourceThumbnailMaxPixelSize: longestSide,
        ] as CFDictionary
      guard let source = CGImageSourceCreateWithURL(url as CFURL, nil),
        let image = CGImageSourceCreateThumbnailAtIndex(source, 0, options)
      else { throw CocoaError(.fileReadCorruptFile) }
      self.image = image
    }
  }
#endif

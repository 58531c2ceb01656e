#if canImport(ImageIO)
  public import CoreGraphics
  import Foundation
  import ImageIO
  public import MillpondCore

  extension MediaCache {
    /// The pictures that are in the files, ready to be drawn.
    ///
    ///     let thumbnails = MemoryCache<URL, MediaImage>(costLimit: .mebibytes(64), cost: \.byteCount)
    ///       .layered(over: media.images(longestSide: 300))
    ///
    /// - Parameter longestSide: In pixels; larger pictures are made smaller while they are decoded.
    /// - Throws: `CocoaError` with the code `fileReadCorruptFile` for what is no picture.
    public func images(longestSide: Int) -> DecodedMedia<Key, MediaImage> {
      DecodedMedia(files: self) { try MediaImage($0.url, longestSide: longestSide) }
    }
  }

  /// A picture that has been decoded.
  ///
  /// Sendable because nothing can change a `CGImage`.
  public struct MediaImage: @unchecked Sendable {
    /// The picture.
    public let image: CGImage

    /// How much memory its pixels take.
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

// minizip over strings instead of files.
#include "formats/Zip.h"

#include <algorithm>
#include <cstring>
#include <minizip/unzip.h>
#include <minizip/zip.h>
#include <new>

namespace tile::runtime {

namespace {

/// The stream that minizip writes to.
/// minizip seeks back to fill in sizes: a position and all bytes.
struct Sink {
  std::string bytes;
  uint64_t position = 0;
  bool failed = false;
};

} // namespace

//===--- Writing ----------------------------------------------------------===//

static voidpf openSink(voidpf opaque, const void *, int) { return opaque; }
/// No exception may pass through C.
static uLong writeSink(voidpf opaque, voidpf, const void *from, uLong size) {
  auto *sink = static_cast<Sink *>(opaque);
  try {
    if (sink->bytes.size() < sink->position + size)
      sink->bytes.resize(sink->position + size);
  } catch (const std::bad_alloc &) {
    sink->failed = true;
    return 0;
  }
  std::memcpy(&sink->bytes[sink->position], from, size);
  sink->position += size;
  return size;
}
static uLong readSink(voidpf, voidpf, void *, uLong) { return 0; }
static ZPOS64_T tellSink(voidpf opaque, voidpf) { return static_cast<Sink *>(opaque)->position; }
static long seekSink(voidpf opaque, voidpf, ZPOS64_T offset, int origin) {
  auto *sink = static_cast<Sink *>(opaque);
  uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                  : origin == ZLIB_FILEFUNC_SEEK_CUR ? sink->position
                                                     : sink->bytes.size();
  sink->position = base + offset;
  return 0;
}
static int closeSink(voidpf, voidpf) { return 0; }
static int sinkError(voidpf opaque, voidpf) { return static_cast<Sink *>(opaque)->failed; }

Error writeZip(const std::vector<ZipEntry> &entries, std::string &archive) {
  if (entries.size() > maxZipEntries)
    return Error(TILE_ERROR_BINARY, "a package cannot hold more than " +
                                        std::to_string(maxZipEntries) + " files, found " +
                                        std::to_string(entries.size()));
  Sink sink;
  zlib_filefunc64_def functions = {openSink, readSink,  writeSink, tellSink,
                                   seekSink, closeSink, sinkError, &sink};
  zipFile zip = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &functions);
  bool good = zip != nullptr;
  for (const ZipEntry &entry : entries) {
    zip_fileinfo info = {};
    // A fixed day: the same files make the same bytes.
    info.dosDate = (1u << 21) | (1u << 16); // 1 January 1980, the first day that ZIP knows
    // The large format only where it is needed: older programs do not read it.
    good = good && zipOpenNewFileInZip64(zip, entry.path.c_str(), &info, nullptr, 0, nullptr, 0,
                                         nullptr, Z_DEFLATED, Z_BEST_COMPRESSION,
                                         entry.bytes.size() >> 31 != 0) == ZIP_OK;
    // Its lengths are of 32 bits.
    for (size_t at = 0; good && at < entry.bytes.size();) {
      unsigned piece = unsigned(std::min<size_t>(entry.bytes.size() - at, 1u << 30));
      good = zipWriteInFileInZip(zip, entry.bytes.data() + at, piece) == ZIP_OK;
      at += piece;
    }
    good = good && zipCloseFileInZip(zip) == ZIP_OK;
  }
  if (zip)
    good = zipClose(zip, nullptr) == ZIP_OK && good;
  if (!good || sink.failed)
    return Error(TILE_ERROR_MEMORY, "out of memory for an archive");
  archive = std::move(sink.bytes);
  return {};
}

//===--- Reading ----------------------------------------------------------===//

/// Begins with a file, or, if it is empty, with the directory's end.
bool isZip(std::string_view bytes) {
  return bytes.substr(0, 4) == "PK\3\4" || bytes.substr(0, 4) == "PK\5\6";
}

// The stream is the opaque pointer: a view of the archive and a position.
template <typename Stream> struct View {
  static voidpf open(voidpf opaque, const void *, int) { return opaque; }
  static uLong read(voidpf opaque, voidpf, void *to, uLong size) {
    auto *stream = static_cast<Stream *>(opaque);
    // A position beyond the end is possible after a seek, and leaves 0 bytes.
    uint64_t left =
        stream->archive.size() - std::min<uint64_t>(stream->position, stream->archive.size());
    uLong got = uLong(std::min<uint64_t>(size, left));
    if (got)
      std::memcpy(to, stream->archive.data() + stream->position, got);
    stream->position += got;
    return got;
  }
  static uLong write(voidpf, voidpf, const void *, uLong) { return 0; }
  static ZPOS64_T tell(voidpf opaque, voidpf) { return static_cast<Stream *>(opaque)->position; }
  static long seek(voidpf opaque, voidpf, ZPOS64_T offset, int origin) {
    auto *stream = static_cast<Stream *>(opaque);
    uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                    : origin == ZLIB_FILEFUNC_SEEK_CUR ? stream->position
                                                       : stream->archive.size();
    // May wrap around for a negative offset, which minizip passes as an unsigned number; the sum is
    // right again.
    uint64_t target = base + offset;
    if (target > stream->archive.size())
      return -1;
    stream->position = target;
    return 0;
  }
  static int close(voidpf, voidpf) { return 0; }
  static int error(voidpf, voidpf) { return 0; }
};

/// Does the archive end where its last record says? minizip alone does not mind when the very last
/// bytes are missing.
/// From the back: the record may be followed by a comment, whose length must reach just to the
/// archive's end.
static bool endsWhole(std::string_view archive) {
  constexpr size_t recordBytes = 22, longestComment = 65535;
  size_t last = archive.size() < recordBytes ? 0 : archive.size() - recordBytes;
  // `at` counts down to 0 and is unsigned: the loop leaves there itself.
  for (size_t at = last; archive.size() >= recordBytes && last - at <= longestComment; --at) {
    if (archive.substr(at, 4) == "PK\5\6") {
      size_t comment = uint8_t(archive[at + 20]) | size_t(uint8_t(archive[at + 21])) << 8;
      if (at + recordBytes + comment == archive.size())
        return true;
    }
    if (at == 0)
      break;
  }
  return false;
}

Error ZipReader::open(std::string_view archive, std::string name, ZipReader &reader) {
  // The archive is not copied: it must outlive the reader.
  using Access = View<Stream>;
  reader.name = std::move(name);
  reader.stream.archive = archive;
  zlib_filefunc64_def functions = {Access::open, Access::read,  Access::write, Access::tell,
                                   Access::seek, Access::close, Access::error, &reader.stream};
  reader.handle = endsWhole(archive) ? unzOpen2_64("", &functions) : nullptr;
  if (reader.handle)
    return reader.listEntries();
  return Error(TILE_ERROR_BINARY, "'" + reader.name +
                                      "' is no package, or a damaged or truncated one: its " +
                                      std::to_string(archive.size()) +
                                      " bytes do not end in a ZIP archive's directory");
}

/// Finds all entries in one walk over the directory, so that reading each of them is not a search.
/// Paths twice, paths with zero bytes and endless directories are attacks or damage: refused before
/// anything is read.
Error ZipReader::listEntries() {
  auto damaged = [&](const std::string &what) {
    return Error(TILE_ERROR_BINARY, "'" + name + "' is no package, or a damaged one: " + what);
  };
  std::string path;
  int status = unzGoToFirstFile(handle);
  for (; status == UNZ_OK; status = unzGoToNextFile(handle)) {
    unz_file_info64 info = {};
    unz64_file_pos place = {};
    bool good =
        unzGetCurrentFileInfo64(handle, &info, nullptr, 0, nullptr, 0, nullptr, 0) == UNZ_OK;
    path.assign(info.size_filename, '\0');
    good = good &&
           unzGetCurrentFileInfo64(handle, nullptr, &path[0], path.size(), nullptr, 0, nullptr,
                                   0) == UNZ_OK &&
           unzGetFilePos64(handle, &place) == UNZ_OK;
    if (!good)
      return damaged("its directory cannot be read");
    if (path.find('\0') != std::string::npos)
      return damaged("a path in it has a zero byte");
    if (!entries.emplace(path, Place{place.pos_in_zip_directory, place.num_of_file}).second)
      return damaged("'" + path + "' is there twice, and programs do not agree on which counts");
    if (entries.size() > maxZipEntries)
      return damaged("more than " + std::to_string(maxZipEntries) + " files");
  }
  return status == UNZ_END_OF_LIST_OF_FILE ? Error() : damaged("its directory cannot be read");
}

ZipReader::~ZipReader() {
  if (handle)
    unzClose(handle);
}

/// `limit` is what the manifest says: a small archive cannot unpack to gigabytes.
Error ZipReader::read(const std::string &path, uint64_t limit, std::string &bytes) {
  auto damaged = [&](const std::string &what) {
    return Error(TILE_ERROR_BINARY,
                 "'" + name + "' is damaged: " + what + " '" + path + "'; build or copy it again");
  };
  auto found = entries.find(path);
  if (found == entries.end())
    return damaged("it lacks");
  unz64_file_pos place = {found->second.directory, found->second.number};
  if (unzGoToFilePos64(handle, &place) != UNZ_OK)
    return damaged("it cannot read");
  unz_file_info64 info = {};
  if (unzGetCurrentFileInfo64(handle, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK ||
      info.uncompressed_size > limit || unzOpenCurrentFile(handle) != UNZ_OK)
    return damaged(info.uncompressed_size > limit ? "the size is wrong of" : "it cannot read");
  bytes.clear();
  std::string buffer(1 << 16, '\0');
  int got = 0;
  // The directory's size may lie: reading stops one buffer beyond the limit.
  while (bytes.size() <= limit &&
         (got = unzReadCurrentFile(handle, &buffer[0], unsigned(buffer.size()))) > 0)
    bytes.append(buffer, 0, size_t(got));
  int closed = unzCloseCurrentFile(handle); // compares the checksum
  if (got < 0 || closed != UNZ_OK || bytes.size() != info.uncompressed_size)
    return damaged("the checksum is wrong of");
  return {};
}

} // namespace tile::runtime

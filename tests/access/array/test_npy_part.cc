#include "access/array/npy_test.h"

#include <csignal>
#include <cstdio>
#include <sys/stat.h>
#include <sys/wait.h>

extern "C" {
#include "access/array/array.h"
}

/* The file until it is whole, and how it gets its name. */

namespace {

using namespace npy_test;

class NpyPart : public Npy {
  protected:
    void SetUp() override {
        Npy::SetUp();
        Write("old");
    }
    void CreateFilled(float value) {
        ASSERT_EQ(Create(POLYTILE_F32, Extents({2})), POLYTILE_OK) << polytile_last_error(ctx);
        float *data = static_cast<float *>(polytile_array_get_data(array));
        data[0] = data[1] = value;
    }
    static std::string Whole(float value) {
        return Head(Dictionary("'<f4'", "False", "(2,)")) + Floats({value, value});
    }
    bool HasPart() const { return access((path + ".part").c_str(), F_OK) == 0; }
    mode_t Mode() const {
        struct stat info = {};
        EXPECT_EQ(stat(path.c_str(), &info), 0);
        return info.st_mode & 07777;
    }
    /** What destroying the array says on standard error. */
    std::string Destroy() {
        testing::internal::CaptureStderr();
        polytile_array_destroy(array);
        return testing::internal::GetCapturedStderr();
    }
};

TEST_F(NpyPart, GetsItsNameWhenTheArrayIsDestroyed) {
    CreateFilled(3);
    EXPECT_EQ(Read(), "old");
    EXPECT_TRUE(HasPart());
    EXPECT_EQ(Destroy(), "");
    EXPECT_EQ(Read(), Whole(3));
    EXPECT_FALSE(HasPart());
}

TEST_F(NpyPart, GetsItsNameWhenTheContextEnds) {
    CreateFilled(4);
    polytile_context_destroy(ctx);
    ctx = nullptr;
    EXPECT_EQ(Read(), Whole(4));
    EXPECT_FALSE(HasPart());
}

TEST_F(NpyPart, OfAnIncompleteArrayStaysAndIsTold) {
    CreateFilled(5);
    pti_array_set_complete(array, false);
    EXPECT_EQ(polytile_npy_finish(array), POLYTILE_INVALID);
    EXPECT_TRUE(Says("array field: is incomplete")) << polytile_last_error(ctx);
    const std::string said = Destroy();
    EXPECT_NE(said.find("array field is incomplete, so " + path + " is as it was"),
              std::string::npos)
        << said;
    EXPECT_EQ(Read(), "old");
    EXPECT_TRUE(HasPart());
}

TEST_F(NpyPart, ThatIsFinishedCanBeWrittenOn) {
    CreateFilled(6);
    ASSERT_EQ(polytile_npy_finish(array), POLYTILE_OK) << polytile_last_error(ctx);
    EXPECT_EQ(Read(), Whole(6));
    EXPECT_FALSE(HasPart());
    EXPECT_EQ(polytile_npy_finish(array), POLYTILE_OK);
    float *data = static_cast<float *>(polytile_array_get_data(array));
    data[0] = data[1] = 7;
    polytile_npy_abandon(array);
    EXPECT_EQ(Destroy(), "");
    EXPECT_EQ(Read(), Whole(7));
}

TEST_F(NpyPart, ThatIsAbandonedIsRemoved) {
    CreateFilled(8);
    polytile_npy_abandon(array);
    static_cast<float *>(polytile_array_get_data(array))[0] = 9;
    EXPECT_FALSE(HasPart());
    EXPECT_EQ(Destroy(), "");
    EXPECT_EQ(Read(), "old");
    EXPECT_EQ(polytile_npy_finish(nullptr), POLYTILE_INVALID);
    polytile_npy_abandon(nullptr);
}

TEST_F(NpyPart, ThatCannotGetItsNameStaysAndIsTold) {
    CreateFilled(10);
    ASSERT_EQ(unlink(path.c_str()), 0);
    ASSERT_EQ(mkdir(path.c_str(), 0777), 0);
    EXPECT_EQ(polytile_npy_finish(array), POLYTILE_IO);
    EXPECT_TRUE(Says("cannot replace: Is a directory")) << polytile_last_error(ctx);
    const std::string said = Destroy();
    EXPECT_NE(said.find("array field stays in " + path + ".part"), std::string::npos) << said;
    EXPECT_TRUE(HasPart());
}

TEST_F(NpyPart, ThatSomebodyRemovedIsMissed) {
    CreateFilled(11);
    ASSERT_EQ(unlink((path + ".part").c_str()), 0);
    EXPECT_EQ(polytile_npy_finish(array), POLYTILE_IO);
    EXPECT_TRUE(Says("was removed or replaced")) << polytile_last_error(ctx);
    EXPECT_NE(Destroy(), "");
    EXPECT_EQ(Read(), "old");
}

TEST_F(NpyPart, IsWrittenByOneArrayAtATime) {
    CreateFilled(12);
    polytile_array *first = array;
    EXPECT_EQ(Create(POLYTILE_F32, Extents({2})), POLYTILE_IO);
    EXPECT_TRUE(Says("is being written, by another array or another process"))
        << polytile_last_error(ctx);
    polytile_array_destroy(first);
    EXPECT_EQ(Read(), Whole(12));
    CreateFilled(13);
    EXPECT_EQ(Destroy(), "");
    EXPECT_EQ(Read(), Whole(13));
}

TEST_F(NpyPart, OfAProcessThatEndedIsReplaced) {
    std::ofstream(path + ".part") << std::string(1000, 'x');
    CreateFilled(14);
    EXPECT_EQ(Destroy(), "");
    EXPECT_EQ(Read(), Whole(14));
    EXPECT_FALSE(HasPart());
}

TEST_F(NpyPart, MayBeUsedAsTheFileThatItReplaces) {
    for (mode_t mode : {0640U, 0600U, 0444U}) {
        ASSERT_EQ(chmod(path.c_str(), mode), 0);
        CreateFilled(15);
        struct stat part = {};
        ASSERT_EQ(stat((path + ".part").c_str(), &part), 0);
        EXPECT_EQ(part.st_mode & 077, mode & 077);
        EXPECT_EQ(Destroy(), "");
        EXPECT_EQ(Mode(), mode);
    }
}

TEST_F(NpyPart, IsBesideTheFileThatALinkLeadsTo) {
    const std::string target = path, link = directory + "/link.npy";
    ASSERT_EQ(symlink("field.npy", link.c_str()), 0);
    path = link;
    CreateFilled(16);
    EXPECT_EQ(access((target + ".part").c_str(), F_OK), 0);
    EXPECT_EQ(Destroy(), "");
    path = target;
    EXPECT_EQ(Read(), Whole(16));
    ASSERT_EQ(unlink(target.c_str()), 0);
    path = link;
    EXPECT_EQ(Create(POLYTILE_F32, Extents({2})), POLYTILE_IO);
    EXPECT_TRUE(Says("is a symbolic link to a file that is not there")) << polytile_last_error(ctx);
}

TEST_F(NpyPart, IsNeverADevice) {
    for (const char *device : {"/dev/full", "/dev/null"}) {
        path = device;
        EXPECT_EQ(Create(POLYTILE_F32, Extents({2})), POLYTILE_IO);
        EXPECT_TRUE(Says("is not a regular file")) << polytile_last_error(ctx);
    }
}

/** At a random moment: tests/examples. */
TEST_F(NpyPart, OfAKilledProcessLeavesTheOldFile) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        CreateFilled(17);
        raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    EXPECT_EQ(Read(), "old");
    EXPECT_TRUE(HasPart());
}

} // namespace

!> polytile in Fortran: kernels on arrays larger than the memory of a device.
!>
!> Arrays are wrapped as they are, in Fortran's order, with indices from 1, and declarations name their
!> subscripts as Fortran does: A[i, j] is A(i, j). All procedures take stat= and errmsg= at the end.
!> Without stat, a failure ends the program with the library's sentence. docs/fortran.md explains it.
module polytile
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use polytile_c
    use polytile_views
    implicit none
    private

    public :: polytile_domain, polytile_view, polytile_view_get, polytile_first, polytile_last
    public :: polytile_context, polytile_device, polytile_kernel, polytile_array, polytile_queue
    public :: polytile_parameter, polytile_report, polytile_body, polytile_set
    public :: polytile_context_create, polytile_context_destroy
    public :: polytile_device_open, polytile_device_close, polytile_device_get_report
    public :: polytile_device_trace
    public :: polytile_kernel_compile, polytile_kernel_create, polytile_kernel_destroy
    public :: polytile_array_wrap, polytile_array_destroy
    public :: polytile_extents, polytile_bounds
    public :: polytile_run, polytile_check
    public :: polytile_queue_create, polytile_queue_destroy, polytile_queue_attach
    public :: polytile_queue_detach, polytile_queue_create_array, polytile_queue_launch
    public :: polytile_queue_wait, polytile_queue_trace, polytile_queue_get_report
    public :: polytile_version

    !> What stat= can be.
    integer, parameter, public :: POLYTILE_OK = 0, POLYTILE_INVALID = 1, POLYTILE_DECLARATION = 2, &
        POLYTILE_CONFLICT = 3, POLYTILE_NO_FIT = 4, POLYTILE_OVERFLOW = 5, POLYTILE_NO_MEMORY = 6, &
        POLYTILE_IO = 7, POLYTILE_DEVICE_FAILED = 8, POLYTILE_UNSUPPORTED = 9, POLYTILE_INTERNAL = 10, &
        POLYTILE_DEADLOCK = 11, POLYTILE_TIMEOUT = 12, POLYTILE_CANCELLED = 13

    !> Types of elements, for arrays of a queue's own.
    integer(c_int), parameter, public :: POLYTILE_I8 = 0, POLYTILE_I16 = 1, POLYTILE_I32 = 2, &
        POLYTILE_I64 = 3, POLYTILE_F32 = 9, POLYTILE_F64 = 10, POLYTILE_C64 = 12, POLYTILE_C128 = 13

    !> Owns all that is made from it; one thread at a time uses it.
    type :: polytile_context
        private
        type(c_ptr) :: handle = c_null_ptr
    end type

    !> What belongs to a context ends with it, or when it is destroyed; copies are the same object.
    type :: polytile_device
        private
        type(c_ptr) :: handle = c_null_ptr, context = c_null_ptr
    end type

    type :: polytile_kernel
        private
        type(c_ptr) :: handle = c_null_ptr, context = c_null_ptr
    end type

    type :: polytile_array
        private
        type(c_ptr) :: handle = c_null_ptr
    end type

    type :: polytile_queue
        private
        type(c_ptr) :: handle = c_null_ptr, context = c_null_ptr
    end type

    !> Of the names of declarations.
    integer, parameter :: name_length = 63

    !> The value of a declaration's parameter in a launch; polytile_set() makes one.
    type :: polytile_parameter
        private
        character(name_length) :: name = ''
        integer(int64) :: value = 0
        real(real64) :: real = 0
        logical :: is_real = .false.
    end type

    abstract interface
        !> A body over a box of threads. Several threads may call it at the same time, for other boxes.
        subroutine polytile_body(threads, views, user) bind(C)
            import :: polytile_domain, polytile_view, c_ptr
            type(polytile_domain), intent(in) :: threads
            type(polytile_view), intent(in) :: views(*)
            type(c_ptr), value :: user
        end subroutine
    end interface

    !> Let launches use an array of Fortran, or a section of one, in its memory. Indices begin with
    !> 1, or with lower(d). The array has to have the target attribute, and to stay where it is. It has
    !> no intent here, so that one that is intent(in) can be given for kernels that read it.
    interface polytile_array_wrap
        module procedure wrap_i32, wrap_i64
    end interface

    !> Make an array of the queue's own, which is nowhere but on the device, and zero at first.
    interface polytile_queue_create_array
        module procedure create_array_i32, create_array_i64
    end interface

    !> The value of a parameter by its name, of any kind of real or integer. Names have at most 63
    !> characters.
    interface polytile_set
        module procedure set_i32, set_i64, set_f32, set_f64
    end interface

    !> The box 1 .. n(d) along each dimension.
    interface polytile_extents
        module procedure extents_i32, extents_i64
    end interface

    !> The box lo(d) .. hi(d) along each dimension.
    interface polytile_bounds
        module procedure bounds_i32, bounds_i64
    end interface

    integer, parameter :: why_length = 256

contains

    ! Texts and errors.

    function c_text(text) result(bytes)
        character(*), intent(in) :: text
        character(kind=c_char) :: bytes(len_trim(text) + 1)
        integer :: k
        do k = 1, len_trim(text)
            bytes(k) = text(k:k)
        end do
        bytes(len_trim(text) + 1) = c_null_char
    end function

    function text_at(address) result(text)
        type(c_ptr), intent(in) :: address
        character(:), allocatable :: text
        character(kind=c_char), pointer :: bytes(:)
        integer :: k
        allocate (character(int(c_strlen(address))) :: text)
        call c_f_pointer(address, bytes, [len(text)])
        do k = 1, len(text)
            text(k:k) = bytes(k)
        end do
    end function

    !> Tell the caller what came of a call, or end the program.
    subroutine tell(status, context, stat, errmsg, why)
        integer(c_int), intent(in) :: status
        type(c_ptr), intent(in) :: context
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), intent(in), optional, target :: why(*)
        character(:), allocatable :: text
        if (present(stat)) stat = status
        if (status == POLYTILE_OK) return
        text = ''
        if (present(why)) text = text_at(c_loc(why))
        if (len(text) == 0) text = text_at(c_last_error(context))
        if (len(text) == 0) text = text_at(c_status_text(status))
        if (present(errmsg)) errmsg = text
        if (.not. present(stat)) error stop text
    end subroutine

    !> The library's version, such as "0.1.0".
    function polytile_version() result(text)
        character(:), allocatable :: text
        text = text_at(c_version())
    end function

    ! Contexts and devices.

    subroutine polytile_context_create(ctx, stat, errmsg)
        type(polytile_context), intent(out) :: ctx
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call tell(c_context_create(ctx%handle), c_null_ptr, stat, errmsg)
    end subroutine

    !> End a context and all that was made from it.
    subroutine polytile_context_destroy(ctx)
        type(polytile_context), intent(inout) :: ctx
        call c_context_destroy(ctx%handle)
        ctx%handle = c_null_ptr
    end subroutine

    subroutine polytile_device_open(ctx, text, device, stat, errmsg)
        type(polytile_context), intent(in) :: ctx
        character(*), intent(in) :: text
        type(polytile_device), intent(out) :: device
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        device%context = ctx%handle
        call tell(c_device_open(ctx%handle, c_text(text), device%handle), ctx%handle, stat, errmsg)
    end subroutine

    subroutine polytile_device_close(device)
        type(polytile_device), intent(inout) :: device
        call c_device_close(device%handle)
        device%handle = c_null_ptr
    end subroutine

    !> What the last run did and took.
    function polytile_device_get_report(device) result(report)
        type(polytile_device), intent(in) :: device
        type(polytile_report) :: report
        call c_device_get_report(device%handle, report)
    end function

    !> Write what the device does to a file, until this is called again; '' only ends that.
    subroutine polytile_device_trace(device, path, stat, errmsg)
        type(polytile_device), intent(in) :: device
        character(*), intent(in) :: path
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), target :: bytes(len_trim(path) + 1)
        bytes = c_text(path)
        call tell(c_device_trace(device%handle, path_or_null(bytes)), device%context, stat, errmsg)
    end subroutine

    function path_or_null(bytes) result(address)
        character(kind=c_char), intent(in), target :: bytes(:)
        type(c_ptr) :: address
        address = c_null_ptr
        if (size(bytes) > 1) address = c_loc(bytes)
    end function

    ! Kernels.

    !> Make a kernel of a declaration and a body in C; both name subscripts as Fortran does.
    subroutine polytile_kernel_compile(ctx, declaration, body, kernel, stat, errmsg)
        type(polytile_context), intent(in) :: ctx
        character(*), intent(in) :: declaration, body
        type(polytile_kernel), intent(out) :: kernel
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char) :: why(why_length)
        kernel%context = ctx%handle
        call tell(c_fortran_kernel_compile(ctx%handle, c_text(declaration), c_text(body), &
            kernel%handle, why), ctx%handle, stat, errmsg, why)
    end subroutine

    !> Make a kernel of a declaration and a body in Fortran, for host devices. gfortran 12 takes the
    !> argument's name for a global one, which programs must not meet.
    subroutine polytile_kernel_create(ctx, declaration, polytile_given_body, kernel, user, stat, errmsg)
        type(polytile_context), intent(in) :: ctx
        character(*), intent(in) :: declaration
        procedure(polytile_body) :: polytile_given_body
        type(polytile_kernel), intent(out) :: kernel
        type(c_ptr), intent(in), optional :: user
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char) :: why(why_length)
        type(c_ptr) :: given
        given = c_null_ptr
        if (present(user)) given = user
        kernel%context = ctx%handle
        call tell(c_fortran_kernel_create(ctx%handle, c_text(declaration), c_funloc(polytile_given_body), given, &
            kernel%handle, why), ctx%handle, stat, errmsg, why)
    end subroutine

    subroutine polytile_kernel_destroy(kernel)
        type(polytile_kernel), intent(inout) :: kernel
        call c_kernel_destroy(kernel%handle)
        kernel%handle = c_null_ptr
    end subroutine

    ! Arrays.

    subroutine wrap_i32(ctx, name, elements, array, lower, stat, errmsg)
        type(polytile_context), intent(in) :: ctx
        character(*), intent(in) :: name
        type(*), target :: elements(..)
        type(polytile_array), intent(out) :: array
        integer(c_int32_t), intent(in), optional :: lower(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char) :: why(why_length)
        if (present(lower)) then
            call wrap_i64(ctx, name, elements, array, int(lower, int64), stat, errmsg)
        else
            call tell(c_fortran_array_wrap(ctx%handle, c_text(name), elements, -1, [0_int64], &
                array%handle, why), ctx%handle, stat, errmsg, why)
        end if
    end subroutine

    subroutine wrap_i64(ctx, name, elements, array, lower, stat, errmsg)
        type(polytile_context), intent(in) :: ctx
        character(*), intent(in) :: name
        type(*), target :: elements(..)
        type(polytile_array), intent(out) :: array
        integer(c_int64_t), intent(in) :: lower(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char) :: why(why_length)
        call tell(c_fortran_array_wrap(ctx%handle, c_text(name), elements, size(lower), lower, &
            array%handle, why), ctx%handle, stat, errmsg, why)
    end subroutine

    subroutine polytile_array_destroy(array)
        type(polytile_array), intent(inout) :: array
        call c_array_destroy(array%handle)
        array%handle = c_null_ptr
    end subroutine

    function handles_of(arrays) result(handles)
        type(polytile_array), intent(in) :: arrays(:)
        type(c_ptr) :: handles(size(arrays))
        integer :: k
        do k = 1, size(arrays)
            handles(k) = arrays(k)%handle
        end do
    end function

    ! Boxes of threads.

    function extents_i32(n) result(box)
        integer(c_int32_t), intent(in) :: n(:)
        type(polytile_domain) :: box
        box = bounds_i64(spread(1_int64, 1, size(n)), int(n, int64))
    end function

    function extents_i64(n) result(box)
        integer(c_int64_t), intent(in) :: n(:)
        type(polytile_domain) :: box
        box = bounds_i64(spread(1_int64, 1, size(n)), n)
    end function

    function bounds_i32(lo, hi) result(box)
        integer(c_int32_t), intent(in) :: lo(:), hi(:)
        type(polytile_domain) :: box
        box = bounds_i64(int(lo, int64), int(hi, int64))
    end function

    !> A box of another number of dimensions than either list has: launches refuse it.
    function bounds_i64(lo, hi) result(box)
        integer(c_int64_t), intent(in) :: lo(:), hi(:)
        type(polytile_domain) :: box
        integer :: d
        box%range = polytile_range(0, -1, 1)
        if (size(lo) /= size(hi) .or. size(lo) > size(box%range)) return
        box%n_dims = size(lo)
        do d = 1, size(lo)
            box%range(size(lo) + 1 - d) = polytile_range(lo(d), hi(d), 1)
        end do
    end function

    ! Parameters.

    function set_i32(name, value) result(parameter)
        character(*), intent(in) :: name
        integer(c_int32_t), intent(in) :: value
        type(polytile_parameter) :: parameter
        parameter = set_i64(name, int(value, int64))
    end function

    function set_i64(name, value) result(parameter)
        character(*), intent(in) :: name
        integer(c_int64_t), intent(in) :: value
        type(polytile_parameter) :: parameter
        parameter%name = shortened(name)
        parameter%value = value
    end function

    function set_f32(name, value) result(parameter)
        character(*), intent(in) :: name
        real(c_float), intent(in) :: value
        type(polytile_parameter) :: parameter
        parameter = set_f64(name, real(value, real64))
    end function

    function set_f64(name, value) result(parameter)
        character(*), intent(in) :: name
        real(c_double), intent(in) :: value
        type(polytile_parameter) :: parameter
        parameter%name = shortened(name)
        parameter%real = value
        parameter%is_real = .true.
    end function

    !> A name, or, of one that is longer than a declaration's can be, what none is: launches refuse it.
    pure function shortened(name) result(kept)
        character(*), intent(in) :: name
        character(name_length) :: kept
        kept = name
        if (len_trim(name) > name_length) kept(name_length - 2:) = '...'
    end function

    !> Parameters as the library has them; names holds their texts.
    subroutine convert(parameters, names, converted)
        type(polytile_parameter), intent(in), optional :: parameters(:)
        character(kind=c_char), intent(out), allocatable, target :: names(:, :)
        type(c_parameter), intent(out), allocatable :: converted(:)
        integer :: k, n, length
        n = 0
        if (present(parameters)) n = size(parameters)
        allocate (names(name_length + 1, n), converted(n))
        do k = 1, n
            length = len_trim(parameters(k)%name)
            names(:length + 1, k) = c_text(parameters(k)%name)
            converted(k) = c_parameter(c_loc(names(1, k)), parameters(k)%value, parameters(k)%real, &
                merge(float_number, any_number, parameters(k)%is_real))
        end do
    end subroutine

    ! Runs.

    !> Run a kernel over a box of threads; it is done when this returns.
    subroutine polytile_run(device, kernel, threads, arrays, parameters, stat, errmsg)
        type(polytile_device), intent(in) :: device
        type(polytile_kernel), intent(in) :: kernel
        type(polytile_domain), intent(in) :: threads
        type(polytile_array), intent(in) :: arrays(:)
        type(polytile_parameter), intent(in), optional :: parameters(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: names(:, :)
        type(c_parameter), allocatable :: converted(:)
        call convert(parameters, names, converted)
        call tell(c_fortran_run(device%handle, kernel%handle, threads, size(arrays), &
            handles_of(arrays), size(converted), converted), device%context, stat, errmsg)
    end subroutine

    !> Prove that a launch's threads do not conflict. Nothing runs.
    subroutine polytile_check(kernel, threads, arrays, parameters, stat, errmsg)
        type(polytile_kernel), intent(in) :: kernel
        type(polytile_domain), intent(in) :: threads
        type(polytile_array), intent(in) :: arrays(:)
        type(polytile_parameter), intent(in), optional :: parameters(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: names(:, :)
        type(c_parameter), allocatable :: converted(:)
        call convert(parameters, names, converted)
        call tell(c_fortran_check(kernel%handle, threads, size(arrays), handles_of(arrays), &
            size(converted), converted), kernel%context, stat, errmsg)
    end subroutine

    ! Queues.

    subroutine polytile_queue_create(ctx, device, queue, stat, errmsg)
        type(polytile_context), intent(in) :: ctx
        character(*), intent(in) :: device
        type(polytile_queue), intent(out) :: queue
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        queue%context = ctx%handle
        call tell(c_queue_create(ctx%handle, c_text(device), queue%handle), ctx%handle, stat, errmsg)
    end subroutine

    subroutine polytile_queue_destroy(queue)
        type(polytile_queue), intent(inout) :: queue
        call c_queue_destroy(queue%handle)
        queue%handle = c_null_ptr
    end subroutine

    !> From now on only launches touch the arrays.
    subroutine polytile_queue_attach(queue, arrays, stat, errmsg)
        type(polytile_queue), intent(in) :: queue
        type(polytile_array), intent(in) :: arrays(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call tell(c_queue_attach(queue%handle, size(arrays), handles_of(arrays)), queue%context, stat, &
            errmsg)
    end subroutine

    !> Wait for the arrays, and give them back with their results.
    subroutine polytile_queue_detach(queue, arrays, stat, errmsg)
        type(polytile_queue), intent(in) :: queue
        type(polytile_array), intent(in) :: arrays(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call tell(c_queue_detach(queue%handle, size(arrays), handles_of(arrays)), queue%context, stat, &
            errmsg)
    end subroutine

    subroutine create_array_i32(queue, name, element, extents, array, stat, errmsg)
        type(polytile_queue), intent(in) :: queue
        character(*), intent(in) :: name
        integer(c_int), intent(in) :: element
        integer(c_int32_t), intent(in) :: extents(:)
        type(polytile_array), intent(out) :: array
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call create_array_i64(queue, name, element, int(extents, int64), array, stat, errmsg)
    end subroutine

    subroutine create_array_i64(queue, name, element, extents, array, stat, errmsg)
        type(polytile_queue), intent(in) :: queue
        character(*), intent(in) :: name
        integer(c_int), intent(in) :: element
        integer(c_int64_t), intent(in) :: extents(:)
        type(polytile_array), intent(out) :: array
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char) :: why(why_length)
        call tell(c_fortran_queue_create_array(queue%handle, c_text(name), element, size(extents), &
            extents, array%handle, why), queue%context, stat, errmsg, why)
    end subroutine

    !> Queue a launch and return; it runs when those before it are done.
    subroutine polytile_queue_launch(queue, kernel, threads, arrays, parameters, stat, errmsg)
        type(polytile_queue), intent(in) :: queue
        type(polytile_kernel), intent(in) :: kernel
        type(polytile_domain), intent(in) :: threads
        type(polytile_array), intent(in) :: arrays(:)
        type(polytile_parameter), intent(in), optional :: parameters(:)
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), allocatable, target :: names(:, :)
        type(c_parameter), allocatable :: converted(:)
        call convert(parameters, names, converted)
        call tell(c_fortran_launch(queue%handle, kernel%handle, threads, size(arrays), &
            handles_of(arrays), size(converted), converted), queue%context, stat, errmsg)
    end subroutine

    subroutine polytile_queue_wait(queue, stat, errmsg)
        type(polytile_queue), intent(in) :: queue
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call tell(c_queue_wait(queue%handle), queue%context, stat, errmsg)
    end subroutine

    !> As polytile_device_trace(), of all devices of the queue.
    subroutine polytile_queue_trace(queue, path, stat, errmsg)
        type(polytile_queue), intent(in) :: queue
        character(*), intent(in) :: path
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        character(kind=c_char), target :: bytes(len_trim(path) + 1)
        bytes = c_text(path)
        call tell(c_queue_trace(queue%handle, path_or_null(bytes)), queue%context, stat, errmsg)
    end subroutine

    !> What the queue did so far; waits for it.
    function polytile_queue_get_report(queue) result(report)
        type(polytile_queue), intent(in) :: queue
        type(polytile_report) :: report
        call c_queue_get_report(queue%handle, .false._c_bool, report)
    end function
end module

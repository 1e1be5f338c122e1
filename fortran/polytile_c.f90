!> The functions of the library and of glue.c, as C has them.
module polytile_c
    use, intrinsic :: iso_c_binding
    use polytile_views
    implicit none
    public

    !> What a run or a queue did and took.
    type, bind(C) :: polytile_report
        integer(c_int64_t) :: n_launches = 0, n_kernels = 0, peak_device_bytes = 0, h2d_bytes = 0, &
            d2h_bytes = 0, p2p_bytes = 0, lower_bound_bytes = 0
        real(c_double) :: enqueue_s = 0, plan_s = 0, run_s = 0, compute_s = 0, transfer_s = 0
        integer(c_int64_t) :: reserved(4) = 0
    end type

    type, bind(C) :: c_parameter
        type(c_ptr) :: name = c_null_ptr
        integer(c_int64_t) :: value = 0
        real(c_double) :: real = 0
        integer(c_int) :: number = 0
    end type

    !> polytile_number of the library's headers
    integer(c_int), parameter :: any_number = 0, float_number = 3


    interface
        function c_context_create(ctx) &
            bind(C, name='polytile_context_create') result(status)
            import
            type(c_ptr), intent(out) :: ctx
            integer(c_int) :: status
        end function
        subroutine c_context_destroy(ctx) &
            bind(C, name='polytile_context_destroy')
            import
            type(c_ptr), value :: ctx
        end subroutine
        function c_last_error(ctx) &
            bind(C, name='polytile_last_error') result(status)
            import
            type(c_ptr), value :: ctx
            type(c_ptr) :: status
        end function
        function c_status_text(code) &
            bind(C, name='polytile_status_text') result(status)
            import
            integer(c_int), value :: code
            type(c_ptr) :: status
        end function
        function c_version() &
            bind(C, name='polytile_version') result(status)
            import
            type(c_ptr) :: status
        end function
        function c_device_open(ctx, text, device) &
            bind(C, name='polytile_device_open') result(status)
            import
            type(c_ptr), value :: ctx
            character(kind=c_char), intent(in) :: text(*)
            type(c_ptr), intent(out) :: device
            integer(c_int) :: status
        end function
        subroutine c_device_close(device) &
            bind(C, name='polytile_device_close')
            import
            type(c_ptr), value :: device
        end subroutine
        subroutine c_device_get_report(device, report) &
            bind(C, name='polytile_device_get_report')
            import
            type(c_ptr), value :: device
            type(polytile_report), intent(out) :: report
        end subroutine
        function c_device_trace(device, path) &
            bind(C, name='polytile_device_trace') result(status)
            import
            type(c_ptr), value :: device, path
            integer(c_int) :: status
        end function
        subroutine c_kernel_destroy(kernel) &
            bind(C, name='polytile_kernel_destroy')
            import
            type(c_ptr), value :: kernel
        end subroutine
        subroutine c_array_destroy(array) &
            bind(C, name='polytile_array_destroy')
            import
            type(c_ptr), value :: array
        end subroutine
        function c_queue_create(ctx, text, queue) &
            bind(C, name='polytile_queue_create') result(status)
            import
            type(c_ptr), value :: ctx
            character(kind=c_char), intent(in) :: text(*)
            type(c_ptr), intent(out) :: queue
            integer(c_int) :: status
        end function
        subroutine c_queue_destroy(queue) &
            bind(C, name='polytile_queue_destroy')
            import
            type(c_ptr), value :: queue
        end subroutine
        function c_queue_attach(queue, n_arrays, arrays) &
            bind(C, name='polytile_queue_attach') result(status)
            import
            type(c_ptr), value :: queue
            integer(c_int), value :: n_arrays
            type(c_ptr), intent(in) :: arrays(*)
            integer(c_int) :: status
        end function
        function c_queue_detach(queue, n_arrays, arrays) &
            bind(C, name='polytile_queue_detach') result(status)
            import
            type(c_ptr), value :: queue
            integer(c_int), value :: n_arrays
            type(c_ptr), intent(in) :: arrays(*)
            integer(c_int) :: status
        end function
        function c_fortran_queue_create_array(queue, name, element, n_dims, extents, array, why) &
            bind(C, name='polytile_fortran_queue_create_array') result(status)
            import
            type(c_ptr), value :: queue
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), value :: element, n_dims
            integer(c_int64_t), intent(in) :: extents(*)
            type(c_ptr), intent(out) :: array
            character(kind=c_char), intent(out) :: why(*)
            integer(c_int) :: status
        end function
        function c_queue_wait(queue) &
            bind(C, name='polytile_queue_wait') result(status)
            import
            type(c_ptr), value :: queue
            integer(c_int) :: status
        end function
        function c_queue_trace(queue, path) &
            bind(C, name='polytile_queue_trace') result(status)
            import
            type(c_ptr), value :: queue, path
            integer(c_int) :: status
        end function
        subroutine c_queue_get_report(queue, reset, report) &
            bind(C, name='polytile_queue_get_report')
            import
            type(c_ptr), value :: queue
            logical(c_bool), value :: reset
            type(polytile_report), intent(out) :: report
        end subroutine
        function c_fortran_array_wrap(ctx, name, elements, n_lower, lower, array, why) &
            bind(C, name='polytile_fortran_array_wrap') result(status)
            import
            type(c_ptr), value :: ctx
            character(kind=c_char), intent(in) :: name(*)
            type(*), target :: elements(..)
            integer(c_int), value :: n_lower
            integer(c_int64_t), intent(in) :: lower(*)
            type(c_ptr), intent(out) :: array
            character(kind=c_char), intent(out) :: why(*)
            integer(c_int) :: status
        end function
        function c_fortran_kernel_create(ctx, declaration, body, user, kernel, why) &
            bind(C, name='polytile_fortran_kernel_create') result(status)
            import
            type(c_ptr), value :: ctx
            character(kind=c_char), intent(in) :: declaration(*)
            type(c_funptr), value :: body
            type(c_ptr), value :: user
            type(c_ptr), intent(out) :: kernel
            character(kind=c_char), intent(out) :: why(*)
            integer(c_int) :: status
        end function
        function c_fortran_kernel_compile(ctx, declaration, body, kernel, why) &
            bind(C, name='polytile_fortran_kernel_compile') result(status)
            import
            type(c_ptr), value :: ctx
            character(kind=c_char), intent(in) :: declaration(*)
            character(kind=c_char), intent(in) :: body(*)
            type(c_ptr), intent(out) :: kernel
            character(kind=c_char), intent(out) :: why(*)
            integer(c_int) :: status
        end function
        function c_fortran_run(device, kernel, domain, n_arrays, arrays, n_parameters, parameters) &
            bind(C, name='polytile_fortran_run') result(status)
            import
            type(c_ptr), value :: device, kernel
            type(polytile_domain), intent(in) :: domain
            integer(c_int), value :: n_arrays, n_parameters
            type(c_ptr), intent(in) :: arrays(*)
            type(c_parameter), intent(in) :: parameters(*)
            integer(c_int) :: status
        end function
        function c_fortran_check(kernel, domain, n_arrays, arrays, n_parameters, parameters) &
            bind(C, name='polytile_fortran_check') result(status)
            import
            type(c_ptr), value :: kernel
            type(polytile_domain), intent(in) :: domain
            integer(c_int), value :: n_arrays, n_parameters
            type(c_ptr), intent(in) :: arrays(*)
            type(c_parameter), intent(in) :: parameters(*)
            integer(c_int) :: status
        end function
        function c_fortran_launch(queue, kernel, domain, n_arrays, arrays, n_parameters, parameters) &
            bind(C, name='polytile_fortran_launch') result(status)
            import
            type(c_ptr), value :: queue, kernel
            type(polytile_domain), intent(in) :: domain
            integer(c_int), value :: n_arrays, n_parameters
            type(c_ptr), intent(in) :: arrays(*)
            type(c_parameter), intent(in) :: parameters(*)
            integer(c_int) :: status
        end function
        pure function c_strlen(text) bind(C, name='strlen') result(length)
            import :: c_ptr, c_size_t
            type(c_ptr), value, intent(in) :: text
            integer(c_size_t) :: length
        end function
    end interface
end module
